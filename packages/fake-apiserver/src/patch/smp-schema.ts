// What strategic merge asks of a type: how a field is merged and by which key.
// Upstream: apimachinery@v0.30.3:pkg/util/strategicpatch/meta.go#PatchMetaFromStruct
import type { Schema } from '../schema/schema.ts';
import { other } from './smp-errors.ts';

export interface PatchMeta {
  /** Type of the field, for a list that of its items; undefined for items without a type of their own. */
  readonly schema: Schema | undefined;
  readonly strategy: 'merge' | 'replace' | '';
  /** '' when the items have none. */
  readonly mergeKey: string;
}

function field(schema: Schema | undefined, key: string): Schema {
  const properties = schema?.properties;
  if (schema === undefined || properties === undefined) {
    throw other(`merging an object in json but data type is not struct, instead is: ${kindOf(schema)}`);
  }
  const exact = properties.get(key);
  if (exact !== undefined) return exact;
  const folded = key.toLowerCase();
  for (const [name, property] of properties) if (name.toLowerCase() === folded) return property;
  const struct = schema.name?.slice(schema.name.lastIndexOf('.') + 1) ?? '';
  throw other(`unable to find api field in struct ${struct} for the json field ${JSON.stringify(key)}`);
}

function kindOf(schema: Schema | undefined): string {
  if (schema?.additionalProperties !== undefined) return 'map';
  if (schema?.type === 'array') return 'slice';
  return schema?.type === 'object' || schema === undefined ? 'struct' : schema.type === 'string' ? 'string' : 'int';
}

function strategyOf(schema: Schema): PatchMeta['strategy'] {
  const found = schema.patchStrategies.find((strategy) => strategy !== 'retainKeys');
  return found === 'merge' || found === 'replace' ? found : '';
}

export function mapMeta(schema: Schema | undefined, key: string): PatchMeta {
  const found = field(schema, key);
  return { schema: found, strategy: strategyOf(found), mergeKey: found.patchMergeKey ?? '' };
}

export function listMeta(schema: Schema | undefined, key: string): PatchMeta {
  const found = field(schema, key);
  if (found.items === undefined) throw other('expected slice or array type, but got: struct');
  if (found.items.type === 'array') throw other('unexpected slice of slice');
  return { schema: found.items, strategy: strategyOf(found), mergeKey: found.patchMergeKey ?? '' };
}
