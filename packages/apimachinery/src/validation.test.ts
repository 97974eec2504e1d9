import { describe, expect, it } from 'vitest';
import { isConfigMapKey, isDNS1123Label, isInRange, isValidLabelValue, isValidPortNum } from './validation.ts';

// The messages of every check are compared with upstream's in test/recorded.test.ts.
describe('validation', () => {
  it('counts bytes, not characters', () => {
    expect(isValidLabelValue('é'.repeat(31))).toHaveLength(1);
    expect(isValidLabelValue('é'.repeat(32))).toEqual(['must be no more than 63 characters', expect.any(String)]);
  });

  it('does not let a line break at the end pass', () => {
    expect(isDNS1123Label('a\n')).toHaveLength(1);
    expect(isConfigMapKey('a\n')).toHaveLength(1);
  });

  it('answers megabytes of one character at once', () => {
    const long = 'a'.repeat(1_000_000);
    expect(isDNS1123Label(`${long}!`)).toHaveLength(2);
    expect(isDNS1123Label(`${'a.'.repeat(100_000)}!`)).toHaveLength(2);
  });

  it('takes both ends of a range', () => {
    expect([0, 1, 65_535, 65_536].map((port) => isValidPortNum(port).length)).toEqual([1, 0, 0, 1]);
    expect(isInRange(5, 1, 4)).toEqual(['must be between 1 and 4, inclusive']);
  });
});
