// The functions an expression may call, with their overloads.
// Upstream: github.com/google/cel-go@v0.17.8:common/stdlib/standard.go, ext/strings.go, ext/sets.go, apiserver@v0.30.3:pkg/cel/library
import { objectType } from './decl-type.ts';
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  NULL,
  optionalOf,
  STRING,
  TIMESTAMP,
  TYPE,
  UINT,
} from './types.ts';

export interface Overload {
  readonly id: string;
  readonly member: boolean;
  readonly args: readonly CelType[];
  readonly result: CelType;
}

export const QUANTITY: CelType = { kind: 'opaque', name: 'kubernetes.Quantity' };
export const URL_TYPE: CelType = { kind: 'opaque', name: 'kubernetes.URL' };
const authorization = (name: string): CelType => ({ kind: 'opaque', name: `kubernetes.authorization.${name}` });
export const RESOURCE_CHECK: CelType = authorization('ResourceCheck');
/** Upstream has a variable whose name is `authorizer.requestResource`; here it is a field. */
export const AUTHORIZER: CelType = objectType('kubernetes.authorization.Authorizer', {
  requestResource: RESOURCE_CHECK,
});

const A: CelType = { kind: 'param', name: 'A' };
const B: CelType = { kind: 'param', name: 'B' };
const NAMES: Readonly<Record<string, CelType>> = {
  int: INT,
  uint: UINT,
  double: DOUBLE,
  bool: BOOL,
  string: STRING,
  bytes: BYTES,
  dyn: DYN,
  null: NULL,
  type: TYPE,
  duration: DURATION,
  timestamp: TIMESTAMP,
  quantity: QUANTITY,
  url: URL_TYPE,
  authorizer: AUTHORIZER,
  resourceCheck: RESOURCE_CHECK,
  pathCheck: authorization('PathCheck'),
  groupCheck: authorization('GroupCheck'),
  decision: authorization('Decision'),
  A,
  B,
  'list<A>': listOf(A),
  'list<string>': listOf(STRING),
  'list<dyn>': listOf(DYN),
  'map<A,B>': mapOf(A, B),
  'map<string,list<string>>': mapOf(STRING, listOf(STRING)),
  'optional<A>': optionalOf(A),
  'optional<B>': optionalOf(B),
};
for (const name of ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes']) {
  (NAMES as Record<string, CelType>)[`list<${name}>`] = listOf(NAMES[name]!);
}

const table = new Map<string, Overload[]>();

/** `id: a b -> r`, and `id: a . b -> r` for a member; one per line. */
function declare(name: string, lines: string): void {
  const overloads = table.get(name) ?? [];
  table.set(name, overloads);
  for (const line of lines.split(';')) {
    const [id = '', signature = ''] = line.trim().split(': ');
    const [args = '', result = ''] = signature.split('->').map((part) => part.trim());
    const member = args.includes(' .');
    const words = args.split(' ').filter((word) => word !== '.' && word !== '');
    overloads.push({ id, member, args: words.map(typeNamed), result: typeNamed(result) });
  }
}

function typeNamed(name: string): CelType {
  const type = NAMES[name];
  if (type === undefined) throw new RangeError(`no type ${name}`);
  return type;
}

/** Overloads of a function, undefined for a name nobody declared. */
export function overloadsOf(name: string): readonly Overload[] | undefined {
  return table.get(name);
}

/** Types that expressions may name. */
export const TYPE_NAMES: ReadonlySet<string> = new Set([
  'bool',
  'bytes',
  'double',
  'int',
  'list',
  'map',
  'null_type',
  'string',
  'type',
  'uint',
  'google.protobuf.Duration',
  'google.protobuf.Timestamp',
  'optional_type',
]);

declare('_?_:_', 'conditional: bool A A -> A');
declare('_&&_', 'logical_and: bool bool -> bool');
declare('_||_', 'logical_or: bool bool -> bool');
declare('!_', 'logical_not: bool -> bool');
declare('@not_strictly_false', 'not_strictly_false: bool -> bool');
declare('_==_', 'equals: A A -> bool');
declare('_!=_', 'not_equals: A A -> bool');
declare(
  '_+_',
  'add_bytes: bytes bytes -> bytes; add_double: double double -> double; add_duration_duration: duration duration -> duration; add_duration_timestamp: duration timestamp -> timestamp; add_timestamp_duration: timestamp duration -> timestamp; add_int64: int int -> int; add_list: list<A> list<A> -> list<A>; add_string: string string -> string; add_uint64: uint uint -> uint',
);
declare(
  '_-_',
  'subtract_double: double double -> double; subtract_duration_duration: duration duration -> duration; subtract_int64: int int -> int; subtract_timestamp_duration: timestamp duration -> timestamp; subtract_timestamp_timestamp: timestamp timestamp -> duration; subtract_uint64: uint uint -> uint',
);
declare(
  '_*_',
  'multiply_double: double double -> double; multiply_int64: int int -> int; multiply_uint64: uint uint -> uint',
);
declare(
  '_/_',
  'divide_double: double double -> double; divide_int64: int int -> int; divide_uint64: uint uint -> uint',
);
declare('_%_', 'modulo_int64: int int -> int; modulo_uint64: uint uint -> uint');
declare('-_', 'negate_double: double -> double; negate_int64: int -> int');
declare(
  '_[_]',
  'index_list: list<A> int -> A; index_map: map<A,B> A -> B; optional_list_index_int: optional<A> int -> optional<A>',
);
declare(
  '_[?_]',
  'list_optindex_optional_int: list<A> int -> optional<A>; map_optindex_optional_value: map<A,B> A -> optional<B>',
);
declare('@in', 'in_list: A list<A> -> bool; in_map: A map<A,B> -> bool');
for (const [operator, word] of [
  ['_<_', 'less'],
  ['_<=_', 'less_equals'],
  ['_>_', 'greater'],
  ['_>=_', 'greater_equals'],
] as const) {
  const same = ['bool', 'int64', 'uint64', 'double', 'string', 'bytes', 'timestamp', 'duration'];
  const cel = (name: string): string => name.replace('64', '');
  declare(operator, same.map((name) => `${word}_${name}: ${cel(name)} ${cel(name)} -> bool`).join('; '));
  const numbers = ['int64', 'uint64', 'double'];
  for (const left of numbers) {
    for (const right of numbers) {
      if (left !== right) declare(operator, `${word}_${left}_${right}: ${cel(left)} ${cel(right)} -> bool`);
    }
  }
}
declare(
  'size',
  'size_bytes: bytes -> int; bytes_size: bytes . -> int; size_list: list<A> -> int; list_size: list<A> . -> int; size_map: map<A,B> -> int; map_size: map<A,B> . -> int; size_string: string -> int; string_size: string . -> int',
);
declare('type', 'type: A -> type');
declare('dyn', 'to_dyn: A -> dyn');
declare('bool', 'bool_to_bool: bool -> bool; string_to_bool: string -> bool');
declare('bytes', 'bytes_to_bytes: bytes -> bytes; string_to_bytes: string -> bytes');
declare(
  'double',
  'double_to_double: double -> double; int64_to_double: int -> double; string_to_double: string -> double; uint64_to_double: uint -> double',
);
declare(
  'duration',
  'duration_to_duration: duration -> duration; int64_to_duration: int -> duration; string_to_duration: string -> duration',
);
declare(
  'int',
  'int64_to_int64: int -> int; double_to_int64: double -> int; duration_to_int64: duration -> int; string_to_int64: string -> int; timestamp_to_int64: timestamp -> int; uint64_to_int64: uint -> int',
);
declare(
  'string',
  'string_to_string: string -> string; bool_to_string: bool -> string; bytes_to_string: bytes -> string; double_to_string: double -> string; duration_to_string: duration -> string; int64_to_string: int -> string; timestamp_to_string: timestamp -> string; uint64_to_string: uint -> string',
);
declare(
  'timestamp',
  'timestamp_to_timestamp: timestamp -> timestamp; int64_to_timestamp: int -> timestamp; string_to_timestamp: string -> timestamp',
);
declare(
  'uint',
  'uint64_to_uint64: uint -> uint; double_to_uint64: double -> uint; int64_to_uint64: int -> uint; string_to_uint64: string -> uint',
);
declare('contains', 'contains_string: string . string -> bool');
declare('endsWith', 'ends_with_string: string . string -> bool');
declare('startsWith', 'starts_with_string: string . string -> bool');
declare('matches', 'matches: string string -> bool; matches_string: string . string -> bool');
for (const part of [
  'FullYear',
  'Month',
  'DayOfYear',
  'DayOfMonth',
  'Date',
  'DayOfWeek',
  'Hours',
  'Minutes',
  'Seconds',
  'Milliseconds',
]) {
  const id = part.replace(/(?!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
  declare(
    `get${part}`,
    `timestamp_to_${id}: timestamp . -> int; timestamp_to_${id}_with_tz: timestamp . string -> int`,
  );
}
for (const part of ['Hours', 'Minutes', 'Seconds', 'Milliseconds']) {
  declare(`get${part}`, `duration_to_${part.toLowerCase()}: duration . -> int`);
}
declare('charAt', 'string_char_at_int: string . int -> string');
declare(
  'indexOf',
  'string_index_of_string: string . string -> int; string_index_of_string_int: string . string int -> int; list_a_index_of_int: list<A> . A -> int',
);
declare(
  'lastIndexOf',
  'string_last_index_of_string: string . string -> int; string_last_index_of_string_int: string . string int -> int; list_a_last_index_of_int: list<A> . A -> int',
);
declare('lowerAscii', 'string_lower_ascii: string . -> string');
declare('upperAscii', 'string_upper_ascii: string . -> string');
declare('trim', 'string_trim: string . -> string');
declare(
  'replace',
  'string_replace_string_string: string . string string -> string; string_replace_string_string_int: string . string string int -> string',
);
declare(
  'split',
  'string_split_string: string . string -> list<string>; string_split_string_int: string . string int -> list<string>',
);
declare(
  'substring',
  'string_substring_int: string . int -> string; string_substring_int_int: string . int int -> string',
);
declare('join', 'list_join: list<string> . -> string; list_join_string: list<string> . string -> string');
declare('format', 'string_format: string . list<dyn> -> string');
declare('strings.quote', 'strings_quote: string -> string');
for (const name of ['contains', 'equivalent', 'intersects'])
  declare(`sets.${name}`, `list_sets_${name}_list: list<A> list<A> -> bool`);
for (const name of ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes']) {
  declare('isSorted', `list_${name}_is_sorted_bool: list<${name}> . -> bool`);
  for (const fn of ['max', 'min']) declare(fn, `list_${name}_${fn}_${name}: list<${name}> . -> ${name}`);
}
for (const name of ['int', 'uint', 'double', 'duration'])
  declare('sum', `list_${name}_sum_${name}: list<${name}> . -> ${name}`);
declare('find', 'string_find_string: string . string -> string');
declare(
  'findAll',
  'string_find_all_string: string . string -> list<string>; string_find_all_string_int: string . string int -> list<string>',
);
declare('url', 'string_to_url: string -> url');
declare('isURL', 'is_url_string: string -> bool');
for (const part of ['Scheme', 'Host', 'Hostname', 'Port', 'EscapedPath']) {
  const id = part.replace(/(?!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
  declare(`get${part}`, `url_get_${id}: url . -> string`);
}
declare('getQuery', 'url_get_query: url . -> map<string,list<string>>');
declare('quantity', 'string_to_quantity: string -> quantity');
declare('isQuantity', 'is_quantity_string: string -> bool');
// Not a member, unlike its neighbours.
declare('sign', 'quantity_sign: quantity -> int');
declare('isGreaterThan', 'quantity_is_greater_than: quantity . quantity -> bool');
declare('isLessThan', 'quantity_is_less_than: quantity . quantity -> bool');
declare('compareTo', 'quantity_compare_to: quantity . quantity -> int');
declare('asApproximateFloat', 'quantity_get_float: quantity . -> double');
declare('asInteger', 'quantity_get_int: quantity . -> int');
declare('isInteger', 'quantity_is_integer: quantity . -> bool');
declare('add', 'quantity_add: quantity . quantity -> quantity; quantity_add_int: quantity . int -> quantity');
declare('sub', 'quantity_sub: quantity . quantity -> quantity; quantity_sub_int: quantity . int -> quantity');
declare('optional.of', 'optional_of: A -> optional<A>');
declare('optional.ofNonZeroValue', 'optional_ofNonZeroValue: A -> optional<A>');
declare('optional.none', 'optional_none:  -> optional<A>');
declare('value', 'optional_value: optional<A> . -> A');
declare('hasValue', 'optional_hasValue: optional<A> . -> bool');
declare('or', 'optional_or_optional: optional<A> . optional<A> -> optional<A>');
declare('orValue', 'optional_orValue_value: optional<A> . A -> A');
declare('path', 'authorizer_path: authorizer . string -> pathCheck');
declare('group', 'authorizer_group: authorizer . string -> groupCheck');
declare('serviceAccount', 'authorizer_serviceaccount: authorizer . string string -> authorizer');
declare('resource', 'groupcheck_resource: groupCheck . string -> resourceCheck');
for (const part of ['subresource', 'namespace', 'name'])
  declare(part, `resourcecheck_${part}: resourceCheck . string -> resourceCheck`);
declare(
  'check',
  'pathcheck_check: pathCheck . string -> decision; resourcecheck_check: resourceCheck . string -> decision',
);
for (const part of ['allowed', 'errored']) declare(part, `decision_${part}: decision . -> bool`);
for (const part of ['error', 'reason']) declare(part, `decision_${part}: decision . -> string`);
