// Types of the API as data, and what is decided by them alone.

export { type DecodedJson, DecodeError, strictDecodingError } from './decode-error.ts';
export { decodeJson } from './decode-json.ts';
export {
  type DiscoveryGroup,
  type DiscoveryResource,
  type DiscoverySubresource,
  type DiscoveryVersion,
  loadDiscovery,
} from './discovery.ts';
export { fromUnstructured } from './from-unstructured.ts';
export { jsonSyntaxError } from './json-syntax.ts';
export { normalizeBuiltin, normalizeUnstored } from './normalize-builtin.ts';
export type { DataProfile } from './profile-data.ts';
export type { Schema, SchemaRegistry, SchemaType } from './schema.ts';
export { loadOpenApiSchemas, loadSchemaRegistry } from './schema-registry.ts';
export { loadTableColumns, tableColumnsKey } from './table-columns.ts';
