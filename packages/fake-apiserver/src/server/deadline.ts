// How long a request may take: the query parameter `timeout`, within the limit of the server.
// Upstream: apiserver@v0.30.3:pkg/endpoints/filters/request_deadline.go
import { goQuote, newBadRequest } from '@kube-rx/apimachinery';
import type { Query } from '../endpoints/query.ts';

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** A Go duration in ms; throws an Error with Go's text. */
export function parseDuration(text: string): number {
  const invalid = (): Error => new Error(`time: invalid duration ${goQuote(text)}`);
  const [, sign = '', rest = ''] = /^([+-]?)(.*)$/s.exec(text)!;
  if (rest === '0') return 0;
  if (rest === '') throw invalid();
  let total = 0;
  let left = rest;
  while (left !== '') {
    const number = /^([0-9]*)(\.[0-9]*)?/.exec(left)![0];
    if (number === '' || number === '.') throw invalid();
    left = left.slice(number.length);
    const unit = /^[^0-9.]*/.exec(left)![0];
    if (unit === '') throw new Error(`time: missing unit in duration ${goQuote(text)}`);
    const factor = UNIT_MS[unit];
    if (factor === undefined) throw new Error(`time: unknown unit ${goQuote(unit)} in duration ${goQuote(text)}`);
    left = left.slice(unit.length);
    total += Number(number) * factor;
  }
  return sign === '-' ? -total : total;
}

/** Zero, negative and too long ones count as the limit. Throws a 400 for what is no duration. */
export function requestTimeoutMs(query: Query, limitMs: number): number {
  const text = query.first('timeout') ?? '';
  if (text === '') return limitMs;
  let asked: number;
  try {
    asked = parseDuration(text);
  } catch (error) {
    throw newBadRequest(`invalid timeout specified in the request URL - ${(error as Error).message}`);
  }
  return asked > 0 && asked < limitMs ? asked : limitMs;
}
