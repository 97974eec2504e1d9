// Types of CEL expressions.
// Upstream: github.com/google/cel-go@v0.17.8:common/types/types.go, checker/format.go

/** What a schema looks like to CEL. */
export interface DeclType {
  readonly type: CelType;
  /** Most characters, elements or entries. */
  readonly maxElements: number;
  /** Fewest bytes of a value in JSON. */
  readonly minSize: number;
  /** By escaped name; only objects have fields. */
  readonly fields: ReadonlyMap<string, DeclType> | undefined;
  readonly element: DeclType | undefined;
  readonly key: DeclType | undefined;
}

export type ScalarKind =
  | 'bool'
  | 'bytes'
  | 'double'
  | 'dyn'
  | 'duration'
  | 'error'
  | 'int'
  | 'null'
  | 'string'
  | 'timestamp'
  | 'uint';

export type CelType =
  | { readonly kind: ScalarKind }
  | { readonly kind: 'list'; readonly element: CelType }
  | { readonly kind: 'map'; readonly key: CelType; readonly value: CelType }
  | { readonly kind: 'object'; readonly name: string; readonly decl: DeclType }
  | { readonly kind: 'type' }
  | { readonly kind: 'param'; readonly name: string }
  | { readonly kind: 'optional'; readonly of: CelType }
  /** A type of a library: `kubernetes.Quantity`, `kubernetes.URL`. */
  | { readonly kind: 'opaque'; readonly name: string };

const scalar = (kind: ScalarKind): CelType => ({ kind });

export const BOOL: CelType = scalar('bool');
export const BYTES: CelType = scalar('bytes');
export const DOUBLE: CelType = scalar('double');
export const DYN: CelType = scalar('dyn');
export const DURATION: CelType = scalar('duration');
export const ERROR: CelType = scalar('error');
export const INT: CelType = scalar('int');
export const NULL: CelType = scalar('null');
export const STRING: CelType = scalar('string');
export const TIMESTAMP: CelType = scalar('timestamp');
export const UINT: CelType = scalar('uint');
export const TYPE: CelType = { kind: 'type' };

export const listOf = (element: CelType): CelType => ({ kind: 'list', element });
export const mapOf = (key: CelType, value: CelType): CelType => ({ kind: 'map', key, value });
export const optionalOf = (of: CelType): CelType => ({ kind: 'optional', of });

export const isDynOrError = (type: CelType): boolean => type.kind === 'dyn' || type.kind === 'error';

/** As error texts show a type. */
export function formatType(type: CelType): string {
  switch (type.kind) {
    case 'list':
      return `list(${formatType(type.element)})`;
    case 'map':
      return `map(${formatType(type.key)}, ${formatType(type.value)})`;
    case 'optional':
      return `optional(${formatType(type.of)})`;
    case 'object':
    case 'param':
    case 'opaque':
      return type.name;
    case 'error':
      return '!error!';
    default:
      return type.kind;
  }
}

export function sameType(a: CelType, b: CelType): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind) return false;
  const [left, right] = [partsOf(a), partsOf(b)];
  const named = 'name' in a && 'name' in b ? a.name === b.name : true;
  return named && left.length === right.length && left.every((part, at) => sameType(part, right[at]!));
}

/** What a parameterized type is made of. */
export function partsOf(type: CelType): readonly CelType[] {
  switch (type.kind) {
    case 'list':
      return [type.element];
    case 'map':
      return [type.key, type.value];
    case 'optional':
      return [type.of];
    default:
      return [];
  }
}

/** The same type with its parts mapped. */
export function mapParts(type: CelType, map: (part: CelType) => CelType): CelType {
  switch (type.kind) {
    case 'list':
      return listOf(map(type.element));
    case 'map':
      return mapOf(map(type.key), map(type.value));
    case 'optional':
      return optionalOf(map(type.of));
    default:
      return type;
  }
}

/** Types of constants, by what the parser calls them. */
export const CONSTANT_TYPES: Readonly<Record<string, CelType>> = {
  bool: BOOL,
  bytes: BYTES,
  double: DOUBLE,
  int: INT,
  null: NULL,
  string: STRING,
  uint: UINT,
};
