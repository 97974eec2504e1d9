// What a schema looks like to CEL: its type, and how large its values can get.
// Upstream: apiserver@v0.30.3:pkg/cel/common/schemas.go#SchemaDeclType, pkg/cel/types.go, pkg/cel/limits.go
import type { Structural } from '../schema/structural.ts';
import { newStructural } from '../schema/structural.ts';
import { escapeName } from './escaping.ts';
import {
  BOOL,
  BYTES,
  type CelType,
  type DeclType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  STRING,
  TIMESTAMP,
} from './types.ts';

export const MAX_REQUEST_BYTES: number = 3 * 1024 * 1024;

const simple = (type: CelType, minSize: number, maxElements = 0): DeclType => ({
  type,
  maxElements,
  minSize,
  fields: undefined,
  element: undefined,
  key: undefined,
});

const STRING_DECL = simple(STRING, 2);

/** An object type made by hand, without bounds. */
export function objectType(name: string, fields: Readonly<Record<string, CelType>>): CelType {
  const decl: DeclType = {
    ...simple(DYN, 2),
    get type(): CelType {
      return type;
    },
    fields: new Map(Object.entries(fields).map(([field, of]) => [field, simple(of, 2)] as const)),
  };
  const type: CelType = { kind: 'object', name, decl };
  return type;
}

/** `kind`, `apiVersion` and the two names are always there at the root of a resource. */
export function withTypeAndObjectMeta(schema: Structural): Structural {
  const text = newStructural({ type: 'string' });
  const metadata = newStructural({
    type: 'object',
    properties: { name: { type: 'string' }, generateName: { type: 'string' } },
  });
  const properties = new Map(schema.properties ?? []);
  properties.set('kind', text).set('apiVersion', text).set('metadata', metadata);
  return { ...schema, properties };
}

/**
 * The declaration of a schema, undefined for what CEL cannot see. `name` is the type's name in error texts.
 */
export function schemaDeclType(schema: Structural, isResourceRoot: boolean, name = 'object'): DeclType | undefined {
  if (schema.intOrString) return simple(DYN, 1, MAX_REQUEST_BYTES - 2);
  const node = isResourceRoot ? withTypeAndObjectMeta(schema) : schema;
  switch (node.type) {
    case 'array':
      return listDecl(node, name);
    case 'object':
      return objectDecl(node, name);
    case 'string':
      return stringDecl(node);
    case 'boolean':
      return simple(BOOL, 4);
    case 'number':
      return simple(DOUBLE, 1);
    case 'integer':
      return simple(INT, 1);
    default:
      return undefined;
  }
}

function listDecl(node: Structural, name: string): DeclType | undefined {
  if (node.items === undefined) return undefined;
  const element = schemaDeclType(node.items, node.items.embeddedResource, `${name}.@idx`);
  if (element === undefined) return undefined;
  const most =
    node.maxItems === undefined
      ? Math.floor((MAX_REQUEST_BYTES - 2) / (element.minSize + 1))
      : Math.max(0, node.maxItems);
  return { type: listOf(element.type), maxElements: most, minSize: 2, fields: undefined, element, key: undefined };
}

function objectDecl(node: Structural, name: string): DeclType | undefined {
  const values = node.additionalProperties;
  if (values !== undefined && values !== true) {
    const element = schemaDeclType(values, values.embeddedResource, `${name}.@elem`);
    if (element === undefined) return undefined;
    const most =
      node.maxProperties === undefined
        ? Math.floor((MAX_REQUEST_BYTES - 2) / (element.minSize + 6))
        : Math.max(0, node.maxProperties);
    const type = mapOf(STRING, element.type);
    return { type, maxElements: most, minSize: 2, fields: undefined, element, key: STRING_DECL };
  }
  const fields = new Map<string, DeclType>();
  let minSize = 2;
  for (const [field, property] of node.properties ?? []) {
    const escaped = escapeName(field);
    const decl = schemaDeclType(property, property.embeddedResource, `${name}.${escaped ?? field}`);
    if (decl === undefined) continue;
    if (escaped !== undefined) fields.set(escaped, decl);
    if (node.required.includes(field) && !property.hasDefault) minSize += Buffer.byteLength(field) + decl.minSize + 4;
  }
  const decl: DeclType = {
    get type(): CelType {
      return type;
    },
    maxElements: 0,
    minSize,
    fields,
    element: undefined,
    key: undefined,
  };
  const type: CelType = { kind: 'object', name, decl };
  return decl;
}

function stringDecl(node: Structural): DeclType {
  const any = MAX_REQUEST_BYTES - 2;
  const most = node.maxLength === undefined ? undefined : Math.max(0, node.maxLength);
  switch (node.format) {
    case 'byte':
      return simple(BYTES, 2, most ?? any);
    case 'duration':
      return simple(DURATION, 3, 32);
    case 'date':
      return simple(TIMESTAMP, 12, 12);
    case 'date-time':
      return simple(TIMESTAMP, 21, 32);
    default:
  }
  // Lengths are in characters, costs are in bytes: a character takes up to four.
  if (most !== undefined) return simple(STRING, 2, most * 4);
  const words = (node.enum ?? []).filter((value) => typeof value === 'string').map((value) => Buffer.byteLength(value));
  return simple(STRING, 2, node.enum === undefined ? any : Math.max(0, ...words));
}
