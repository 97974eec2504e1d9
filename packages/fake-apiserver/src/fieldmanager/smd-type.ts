// A Schema as structured merge sees it: which of scalar, list and map a value may be, and how lists and maps are merged.
// Upstream: kube-openapi@70dd3763d340:pkg/schemaconv/{openapi,smd}.go, structured-merge-diff@v4.4.1:schema/elements.go
import type { Schema } from '../schema/schema.ts';

export type ScalarKind = 'numeric' | 'string' | 'boolean' | 'untyped';

export interface ListAtom {
  readonly atomic: boolean;
  /** Empty for a set. */
  readonly keys: readonly string[];
  readonly element: SmdType;
}

export interface FieldAtom {
  readonly type: SmdType;
  readonly default: unknown;
}

export interface MapAtom {
  readonly atomic: boolean;
  /** A declared field. */
  field(name: string): FieldAtom | undefined;
  readonly hasFields: boolean;
  /** Type of undeclared fields; undefined when there may be none. */
  readonly element: SmdType | undefined;
}

export interface Atom {
  readonly scalar?: ScalarKind;
  readonly list?: ListAtom;
  readonly map?: MapAtom;
}

/** Resolved when asked for, so that recursive types are fine. */
export class SmdType {
  readonly #make: () => Atom;
  #atom: Atom | undefined;

  constructor(make: () => Atom) {
    this.#make = make;
  }

  get atom(): Atom {
    this.#atom ??= this.#make();
    return this.#atom;
  }
}

/** Any value, merged as a whole. */
export const untypedAtomic: SmdType = new SmdType(() => ({
  scalar: 'untyped',
  list: { atomic: true, keys: [], element: untypedAtomic },
  map: { atomic: true, field: () => undefined, hasFields: false, element: untypedAtomic },
}));

/** Any value; maps are merged by key, lists as a whole. For types without a schema. */
export const deduced: SmdType = new SmdType(() => ({
  scalar: 'untyped',
  list: { atomic: true, keys: [], element: untypedAtomic },
  map: { atomic: false, field: () => undefined, hasFields: false, element: deduced },
}));

const QUANTITY = 'io.k8s.apimachinery.pkg.api.resource.Quantity';
const RAW_EXTENSION = 'io.k8s.apimachinery.pkg.runtime.RawExtension';

// Two caches, since below a type that preserves unknown fields everything does.
const caches = [new WeakMap<Schema, SmdType>(), new WeakMap<Schema, SmdType>()] as const;

/** The type of a schema, made once per schema. Undefined schema: {@link deduced}. */
export function smdTypeOf(schema: Schema | undefined, preserveUnknownFields = false): SmdType {
  if (schema === undefined) return deduced;
  const cache = caches[preserveUnknownFields ? 1 : 0];
  let type = cache.get(schema);
  if (type === undefined) {
    type = new SmdType(() => atomOf(schema, preserveUnknownFields || schema.preserveUnknownFields));
    cache.set(schema, type);
  }
  return type;
}

function atomOf(schema: Schema, preserve: boolean): Atom {
  if (schema.name === QUANTITY) return { scalar: 'untyped' };
  if (schema.name === RAW_EXTENSION) return untypedAtomic.atom;
  switch (schema.type) {
    case 'object':
      return { map: mapOf(schema, preserve) };
    case 'array':
      return { list: listOf(schema, preserve) };
    case 'integer':
    case 'number':
      return { scalar: 'numeric' };
    case 'boolean':
      return { scalar: 'boolean' };
    case 'string':
      return { scalar: schema.format === undefined || schema.format === 'byte' ? 'string' : 'untyped' };
    default:
      return { scalar: 'untyped', list: listOf(schema, preserve), map: mapOf(schema, preserve) };
  }
}

function mapOf(schema: Schema, preserve: boolean): MapAtom {
  const { properties, additionalProperties } = schema;
  const fields = new Map<string, FieldAtom>();
  let element: SmdType | undefined;
  if (additionalProperties === true) element = deduced;
  else if (additionalProperties !== undefined) element = smdTypeOf(additionalProperties, preserve);
  else if (preserve || properties === undefined || properties.size === 0) element = deduced;
  return {
    atomic: schema.mapType === 'atomic',
    hasFields: properties !== undefined && properties.size > 0,
    element,
    field(name) {
      let field = fields.get(name);
      if (field !== undefined) return field;
      const property = properties?.get(name);
      if (property === undefined) return undefined;
      field = { type: smdTypeOf(property, preserve), default: property.default };
      fields.set(name, field);
      return field;
    },
  };
}

function listOf(schema: Schema, preserve: boolean): ListAtom {
  const element = schema.items === undefined ? untypedAtomic : smdTypeOf(schema.items, preserve);
  if (schema.listType === 'set') return { atomic: false, keys: [], element };
  if (schema.listType === 'map') return { atomic: false, keys: schema.listMapKeys, element };
  if (schema.listType === undefined && schema.patchStrategies.includes('merge')) {
    return { atomic: false, keys: schema.patchMergeKey === undefined ? [] : [schema.patchMergeKey], element };
  }
  return { atomic: true, keys: [], element };
}

/** The part of an atom that fits a value; the whole atom for null and for values that fit nothing. */
export function deduceAtom(atom: Atom, value: unknown): Atom {
  if (Array.isArray(value)) return atom.list === undefined ? atom : only(atom, 'list');
  if (typeof value === 'object' && value !== null) return atom.map === undefined ? atom : only(atom, 'map');
  if (value === undefined || value === null) return atom;
  return atom.scalar === undefined ? atom : only(atom, 'scalar');
}

/** Parts of atoms that allow several kinds, made once. */
const parts = new WeakMap<Atom, Atom[]>();
const KINDS = ['scalar', 'list', 'map'] as const;

function only(atom: Atom, kind: (typeof KINDS)[number]): Atom {
  const others = KINDS.some((other) => other !== kind && atom[other] !== undefined);
  if (!others) return atom;
  let made = parts.get(atom);
  if (made === undefined) {
    made = KINDS.map((one) => ({ [one]: atom[one] }));
    parts.set(atom, made);
  }
  return made[KINDS.indexOf(kind)]!;
}

/** Whether two parts of one atom are the same part. */
export function sameAtom(a: Atom, b: Atom): boolean {
  return a.scalar === b.scalar && a.list === b.list && a.map === b.map;
}
