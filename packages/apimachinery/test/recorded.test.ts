// What this package says against what k8s.io/apimachinery v0.30.3 said, see interop/record-apimachinery.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as apimachinery from '../src/index.ts';

interface Recorded {
  readonly op: string;
  readonly arg: string;
  readonly arg2?: string;
  readonly err?: string;
  readonly [answer: string]: unknown;
}

const lines = readFileSync(new URL('./goldens/recorded.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n');
const recorded = lines.map((line) => JSON.parse(line) as Recorded);

const CHECKS: Readonly<Record<string, (value: string) => readonly string[]>> = {
  isDNS1123Label: apimachinery.isDNS1123Label,
  isDNS1123Subdomain: apimachinery.isDNS1123Subdomain,
  isDNS1035Label: apimachinery.isDNS1035Label,
  isWildcardDNS1123Subdomain: apimachinery.isWildcardDNS1123Subdomain,
  isQualifiedName: apimachinery.isQualifiedName,
  isValidLabelValue: apimachinery.isValidLabelValue,
  isConfigMapKey: apimachinery.isConfigMapKey,
  isCIdentifier: apimachinery.isCIdentifier,
  isEnvVarName: apimachinery.isEnvVarName,
  isHTTPHeaderName: apimachinery.isHTTPHeaderName,
  isValidPortName: apimachinery.isValidPortName,
  isValidPercent: apimachinery.isValidPercent,
};

const OURS: Readonly<Record<string, (arg: string, arg2: string) => Record<string, unknown>>> = {
  labels: (arg) => ({ out: apimachinery.parseLabelSelector(arg).toString() }),
  labelObject: (arg) => ({ out: apimachinery.labelSelectorFromObject(JSON.parse(arg)).toString() }),
  labelsMatch: (arg, arg2) => ({ out: apimachinery.parseLabelSelector(arg).matches(JSON.parse(arg2)) }),
  fields(arg) {
    const selector = apimachinery.parseFieldSelector(arg);
    const requirements = selector.requirements.map(({ field, operator, value }) => [field, operator, value]);
    return { out: selector.toString(), requirements };
  },
  quantity(arg) {
    const quantity = apimachinery.parseQuantity(arg);
    return { out: quantity.toString(), format: quantity.format, sign: quantity.sign };
  },
  quantities(arg, arg2) {
    const a = apimachinery.parseQuantity(arg);
    const b = apimachinery.parseQuantity(arg2);
    return { out: a.compare(b), sum: a.add(b).toString(), difference: a.subtract(b).toString() };
  },
  json(arg) {
    const value: unknown = JSON.parse(arg);
    return { out: apimachinery.goJsonStringify(value), indented: apimachinery.goJsonStringify(value, '  ') };
  },
  quote: (arg) => ({ out: apimachinery.goQuote(arg) }),
  valid: (arg) => ({
    out: Object.fromEntries(
      Object.entries(CHECKS).flatMap(([name, check]) => {
        const messages = check(arg);
        return messages.length === 0 ? [] : [[name, messages]];
      }),
    ),
  }),
};

function answerOf(op: string, arg: string, arg2: string): Record<string, unknown> {
  try {
    return OURS[op]!(arg, arg2);
  } catch (error) {
    const isOurs = error instanceof apimachinery.SelectorParseError || error instanceof apimachinery.QuantityError;
    if (!isOurs) throw error;
    return { err: error.message };
  }
}

describe('answers as those of k8s.io/apimachinery', () => {
  it.each(Object.keys(OURS))('to every recorded input of %s', (op) => {
    const cases = recorded.filter((one) => one.op === op);
    expect(cases.length).toBeGreaterThan(9);
    for (const { op: _, arg, arg2 = '', ...expected } of cases) {
      expect({ arg, arg2, ...answerOf(op, arg, arg2) }).toEqual({ arg, arg2, ...expected });
    }
  });
});
