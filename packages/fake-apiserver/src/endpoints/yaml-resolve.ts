// What a YAML scalar without quotes stands for: YAML 1.1 words, Go's integers, no base 60.
// Upstream: gopkg.in/yaml.v2@v2.4.0:resolve.go#resolve

/** Integers keep every digit, so they are bigints. */
export type YamlScalar = string | number | bigint | boolean | null;

const WORDS: ReadonlyMap<string, YamlScalar> = new Map<string, YamlScalar>([
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map((word) => [word, true] as const),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map((word) => [word, false] as const),
  ...['.nan', '.NaN', '.NAN'].map((word) => [word, Number.NaN] as const),
  ...['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'].map((word) => [word, Number.POSITIVE_INFINITY] as const),
  ...['-.inf', '-.Inf', '-.INF'].map((word) => [word, Number.NEGATIVE_INFINITY] as const),
]);

const INTEGER = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))$/;
const FLOAT = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;
const MIN_INT64 = -(2n ** 63n);
const MAX_UINT64 = 2n ** 64n - 1n;

export function resolveScalar(text: string): YamlScalar {
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  if (!/^[-+.0-9]/.test(text)) return text;
  const plain = text.replaceAll('_', '');
  const integer = readInteger(plain);
  if (integer !== undefined) return integer;
  if (!FLOAT.test(plain)) return text;
  const value = Number(plain);
  return Number.isFinite(value) ? value : text;
}

function readInteger(plain: string): bigint | undefined {
  const [, sign, hex, binary, octal, decimal] = INTEGER.exec(plain) ?? [];
  const digits = hex === undefined ? undefined : `0x${hex}`;
  const source = digits ?? (binary === undefined ? undefined : `0b${binary}`) ?? (octal && `0o${octal}`) ?? decimal;
  if (source === undefined) return undefined;
  const value = sign === '-' ? -BigInt(source) : BigInt(source);
  return value >= MIN_INT64 && value <= MAX_UINT64 ? value : undefined;
}

/** As Go writes it into JSON; undefined for what JSON cannot say. */
export function scalarToJson(value: YamlScalar): string | undefined {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'number') return String(value);
  if (!Number.isFinite(value)) return undefined;
  return Object.is(value, -0) ? '-0' : String(value);
}
