// The type of a custom resource as the rest of the server sees it: its structural schema with type and object metadata added.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/controller/openapi/builder/builder.go
import type { Structural } from '../../apiextensions/schema/structural.ts';
import type { Schema } from '../../schema/schema.ts';

/** `io.example.stable.v1.CronTab` for group `stable.example.io`. */
export function componentName(group: string, version: string, kind: string): string {
  return [...group.split('.').reverse(), version, kind].join('.');
}

const TEXT: Schema = {
  name: undefined,
  type: 'string',
  format: undefined,
  properties: undefined,
  required: [],
  additionalProperties: undefined,
  items: undefined,
  default: undefined,
  enum: undefined,
  nullable: false,
  listType: undefined,
  listMapKeys: [],
  mapType: undefined,
  patchStrategies: [],
  patchMergeKey: undefined,
  intOrString: false,
  preserveUnknownFields: false,
  embeddedResource: false,
};

/** Schema of a whole resource. `objectMeta` is the built-in type of metadata. */
export function resourceSchema(structural: Structural, name: string, objectMeta: Schema): Schema {
  return { ...withResourceFields(structural, objectMeta, true), name };
}

function withResourceFields(node: Structural, objectMeta: Schema, isRoot: boolean): Schema {
  const below = (child: Structural): Schema => withResourceFields(child, objectMeta, false);
  const properties = new Map<string, Schema>();
  for (const [field, child] of node.properties ?? []) properties.set(field, below(child));
  if (isRoot || node.embeddedResource) {
    properties.set('apiVersion', TEXT);
    properties.set('kind', TEXT);
    properties.set('metadata', objectMeta);
  }
  const values = node.additionalProperties;
  return {
    ...node,
    properties: properties.size === 0 ? undefined : properties,
    items: node.items === undefined ? undefined : below(node.items),
    additionalProperties: values === undefined || values === true ? values : below(values),
  };
}
