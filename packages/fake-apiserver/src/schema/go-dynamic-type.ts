// What Go calls the dynamic type of a decoded JSON value.
// Upstream: Go's fmt verb %T over what encoding/json decodes

/** Of a value that is there; how a missing one is printed is up to who prints it. */
export function goDynamicType(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'number':
      return Number.isInteger(value) ? 'int64' : 'float64';
    default:
      return 'map[string]interface {}';
  }
}
