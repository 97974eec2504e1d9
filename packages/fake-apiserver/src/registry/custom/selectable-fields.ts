// Fields of a custom resource that field selectors may name.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/registry/customresource/strategy.go#selectableFields
import type { CrdVersion } from '../../apiextensions/crd.ts';
import { type JsonObject, nested } from '../../apiextensions/schema/json.ts';
import type { ApiObject } from '../../storage/api-object.ts';
import type { FieldLabels } from '../strategy.ts';
import { splitPath } from './scale-paths.ts';

/** Values of the selectable fields by their names, which are their paths without the leading dot. */
export function selectableValues(version: CrdVersion): (object: ApiObject) => Readonly<Record<string, string>> {
  const fields = version.selectableFields.map((path) => [path.replace(/^\./, ''), splitPath(path)] as const);
  return (object) => {
    const values: Record<string, string> = {};
    for (const [name, steps] of fields) {
      const { value } = nested(object as JsonObject, steps);
      values[name] = value === undefined || value === null ? '' : String(value);
    }
    return values;
  };
}

/** What a field selector may name: nothing else is known, whatever the object has. */
export function selectableLabels(version: CrdVersion | undefined, namespaced: boolean): FieldLabels {
  const names = ['metadata.name', ...(namespaced ? ['metadata.namespace'] : [])];
  for (const path of version?.selectableFields ?? []) names.push(path.replace(/^\./, ''));
  return new Map(names.map((name) => [name, name]));
}
