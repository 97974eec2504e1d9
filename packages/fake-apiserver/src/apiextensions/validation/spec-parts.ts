// Names, printer columns and subresources of a CRD.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apis/apiextensions/validation/validation.go
import { isDNS1035Label } from '@kube-rx/apimachinery';
import type { CrdNames, PrinterColumn, Subresources } from '../crd.ts';
import { child, type FieldError, index, invalid, required } from '../field-error.ts';

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

/** Names that are empty are somebody else's concern. */
export function namesErrors(names: CrdNames, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of ['plural', 'singular'] as const) {
    const wrong = names[name] === '' ? [] : isDNS1035Label(names[name]);
    if (wrong.length > 0) errors.push(invalid(child(path, name), names[name], wrong.join(',')));
  }
  for (const name of ['kind', 'listKind'] as const) {
    const wrong = names[name] === '' ? [] : isDNS1035Label(names[name].toLowerCase());
    if (wrong.length === 0) continue;
    errors.push(
      invalid(child(path, name), names[name], `may have mixed case, but should otherwise match: ${wrong.join(',')}`),
    );
  }
  errors.push(...labelErrors(names.shortNames, child(path, 'shortNames')));
  if (names.kind !== '' && names.kind === names.listKind) {
    errors.push(invalid(child(path, 'listKind'), names.listKind, 'kind and listKind may not be the same'));
  }
  errors.push(...labelErrors(names.categories, child(path, 'categories')));
  return errors;
}

const labelErrors = (labels: readonly string[], path: string): FieldError[] =>
  labels.flatMap((label, position) => {
    const wrong = isDNS1035Label(label);
    return wrong.length === 0 ? [] : [invalid(index(path, position), label, wrong.join(','))];
  });

function jsonPathErrors(value: string, path: string): FieldError[] {
  return value.startsWith('.') ? [] : [invalid(path, value, 'must be a simple json path starting with .')];
}

export function columnErrors(columns: readonly PrinterColumn[], path: string): FieldError[] {
  return columns.flatMap((column, position) => {
    const at = index(path, position);
    const errors: FieldError[] = [];
    if (column.name === '') errors.push(required(child(at, 'name'), ''));
    const types = `must be one of ${COLUMN_TYPES.join(',')}`;
    if (column.type === '') errors.push(required(child(at, 'type'), types));
    else if (!COLUMN_TYPES.includes(column.type)) errors.push(invalid(child(at, 'type'), column.type, types));
    if (column.format !== '' && !COLUMN_FORMATS.includes(column.format)) {
      errors.push(invalid(child(at, 'format'), column.format, `must be one of ${COLUMN_FORMATS.join(',')}`));
    }
    const jsonPath = child(at, 'JSONPath');
    if (column.jsonPath === '') errors.push(required(jsonPath, ''));
    else errors.push(...jsonPathErrors(column.jsonPath, jsonPath));
    return errors;
  });
}

function scalePathErrors(value: string, path: string, under: readonly string[], text: string): FieldError[] {
  const errors = jsonPathErrors(value, path);
  if (errors.length > 0 || under.some((prefix) => value.startsWith(prefix))) return errors;
  return [invalid(path, value, `should be a json path under ${text}`)];
}

export function subresourceErrors(subresources: Subresources | undefined, path: string): FieldError[] {
  const scale = subresources?.scale;
  if (scale === undefined) return [];
  const errors: FieldError[] = [];
  for (const [name, prefix] of [
    ['specReplicasPath', '.spec'],
    ['statusReplicasPath', '.status'],
  ] as const) {
    const at = child(path, 'scale', name);
    if (scale[name] === '') errors.push(required(at, ''));
    else errors.push(...scalePathErrors(scale[name], at, [`${prefix}.`], prefix));
  }
  if (scale.labelSelectorPath) {
    const at = child(path, 'scale.labelSelectorPath');
    errors.push(...scalePathErrors(scale.labelSelectorPath, at, ['.spec.', '.status.'], 'either .spec or .status'));
  }
  return errors;
}
