// Parts of a CRD as Go prints them in error texts. Pointers show an address that nobody can predict.
// Upstream: Go's fmt under %#v over apiextensions-apiserver@v0.30.3:pkg/apis/apiextensions/types.go
import { goQuote } from '@kube-rx/apimachinery';
import { RawValue } from '../field-error.ts';
import type { InternalSpec, InternalVersion } from './internal-spec.ts';

const PACKAGE = 'apiextensions.';
const pointer = (type: string, set: boolean): string => `(*${type})(${set ? '0xc000000000' : 'nil'})`;

export function goStringList(items: readonly string[] | undefined): RawValue {
  return new RawValue(items === undefined ? '[]string(nil)' : `[]string{${items.map(goQuote).join(', ')}}`);
}

function goVersion({ version, schema, subresources, columns, selectableFields }: InternalVersion): string {
  const list = columns.map(
    (column) =>
      `${PACKAGE}CustomResourceColumnDefinition{Name:${goQuote(column.name)}, Type:${goQuote(column.type)}, Format:${goQuote(column.format)}, Description:${goQuote(column.description)}, Priority:${column.priority}, JSONPath:${goQuote(column.jsonPath)}}`,
  );
  const columnText = `[]${PACKAGE}CustomResourceColumnDefinition${list.length === 0 ? '(nil)' : `{${list.join(', ')}}`}`;
  const fields = selectableFields.map((path) => `${PACKAGE}SelectableField{JSONPath:${goQuote(path)}}`);
  return `${PACKAGE}CustomResourceDefinitionVersion{Name:${goQuote(version.name)}, Served:${version.served}, Storage:${version.storage}, Deprecated:${version.deprecated}, DeprecationWarning:${pointer('string', version.deprecationWarning !== undefined)}, Schema:${pointer(`${PACKAGE}CustomResourceValidation`, schema !== undefined)}, Subresources:${pointer(`${PACKAGE}CustomResourceSubresources`, subresources !== undefined)}, AdditionalPrinterColumns:${columnText}, SelectableFields:[]${PACKAGE}SelectableField${fields.length === 0 ? '(nil)' : `{${fields.join(', ')}}`}}`;
}

export function goVersions(spec: InternalSpec): RawValue {
  const type = `[]${PACKAGE}CustomResourceDefinitionVersion`;
  if (spec.versions.length === 0) return new RawValue(spec.crd.hasVersions ? `${type}{}` : `${type}(nil)`);
  return new RawValue(`${type}{${spec.versions.map(goVersion).join(', ')}}`);
}
