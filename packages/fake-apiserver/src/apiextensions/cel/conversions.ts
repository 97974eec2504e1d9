// Conversions between types.
// Upstream: github.com/google/cel-go@v0.17.8:common/types/*.go#ConvertToType

import { formatFloat } from '../go-format.ts';
import { toInt, toUint } from './arithmetic.ts';
import { formatDuration, formatTimestamp, parseDuration, parseTimestamp } from './time.ts';
import { CelDuration, CelError, CelTimestamp, CelUint, type CelValue, typeName } from './values.ts';

const fail = (value: CelValue, to: string): CelError =>
  new CelError(`type conversion error from '${typeName(value)}' to '${to}'`);

export function toCelInt(value: CelValue): CelValue {
  if (typeof value === 'bigint') return value;
  if (value instanceof CelUint) return toInt(value.value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new CelError('integer overflow');
    return toInt(BigInt(Math.trunc(value)));
  }
  if (value instanceof CelDuration) return value.nanos;
  if (value instanceof CelTimestamp) return value.nanos / 1_000_000_000n;
  if (typeof value !== 'string') throw fail(value, 'int');
  const parsed = /^[+-]?\d+$/.test(value) ? BigInt(value.replace(/^\+/, '')) : undefined;
  if (parsed === undefined || BigInt.asIntN(64, parsed) !== parsed) throw fail(value, 'int');
  return parsed;
}

export function toCelUint(value: CelValue): CelValue {
  if (value instanceof CelUint) return value;
  if (typeof value === 'bigint') return toUint(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new CelError('unsigned integer overflow');
    return toUint(BigInt(Math.trunc(value)));
  }
  if (typeof value !== 'string') throw fail(value, 'uint');
  const parsed = /^\d+$/.test(value) ? BigInt(value) : undefined;
  if (parsed === undefined || BigInt.asUintN(64, parsed) !== parsed) throw fail(value, 'uint');
  return new CelUint(parsed);
}

export function toCelDouble(value: CelValue): CelValue {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof CelUint) return Number(value.value);
  if (typeof value !== 'string') throw fail(value, 'double');
  const special: Readonly<Record<string, number>> = {
    inf: Infinity,
    '+inf': Infinity,
    '-inf': -Infinity,
    nan: Number.NaN,
  };
  const known = special[value.toLowerCase()];
  if (known !== undefined) return known;
  if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(value)) throw fail(value, 'double');
  return Number(value);
}

export function toCelString(value: CelValue): CelValue {
  switch (typeof value) {
    case 'string':
      return value;
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'number':
      return formatFloat(value);
    default:
  }
  if (value instanceof CelUint) return String(value.value);
  if (value instanceof CelDuration) return formatDuration(value.nanos);
  if (value instanceof CelTimestamp) return formatTimestamp(value.nanos);
  if (value instanceof Uint8Array) {
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(value);
    } catch {
      throw new CelError('invalid UTF-8 in bytes, cannot convert to string');
    }
  }
  throw fail(value, 'string');
}

export function toCelBytes(value: CelValue): CelValue {
  if (value instanceof Uint8Array) return value;
  if (typeof value === 'string') return Buffer.from(value);
  throw fail(value, 'bytes');
}

export function toCelBool(value: CelValue): CelValue {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string') throw fail(value, 'bool');
  if (['1', 't', 'T', 'TRUE', 'true', 'True'].includes(value)) return true;
  if (['0', 'f', 'F', 'FALSE', 'false', 'False'].includes(value)) return false;
  throw fail(value, 'bool');
}

export function toCelDuration(value: CelValue): CelValue {
  if (value instanceof CelDuration) return value;
  if (typeof value === 'bigint') return new CelDuration(value);
  if (typeof value !== 'string') throw fail(value, 'google.protobuf.Duration');
  return new CelDuration(parsed(parseDuration, value, 'google.protobuf.Duration'));
}

export function toCelTimestamp(value: CelValue): CelValue {
  if (value instanceof CelTimestamp) return value;
  if (typeof value === 'bigint') return new CelTimestamp(value * 1_000_000_000n);
  if (typeof value !== 'string') throw fail(value, 'google.protobuf.Timestamp');
  return new CelTimestamp(parsed(parseTimestamp, value, 'google.protobuf.Timestamp'));
}

function parsed<T>(parse: (text: string) => T, value: string, to: string): T {
  try {
    return parse(value);
  } catch {
    throw fail(value, to);
  }
}

export function orCelError<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof CelError) throw error;
    throw new CelError((error as Error).message);
  }
}
