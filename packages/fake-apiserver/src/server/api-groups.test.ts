import { describe, expect, it } from 'vitest';
import { compareKubeVersions } from './api-groups.ts';

describe('compareKubeVersions', () => {
  // Upstream test: apimachinery@v0.30.3:pkg/version/helpers_test.go#TestCompareKubeAwareVersionStrings
  it('prefers stable over beta over alpha, then higher numbers, then names', () => {
    const sorted = ['v10', 'v2', 'v1', 'v11beta2', 'v10beta3', 'v3beta1', 'v12alpha1', 'v11alpha2', 'foo1', 'foo10'];
    const shuffled = [...sorted].reverse();
    expect(shuffled.sort((a, b) => compareKubeVersions(b, a))).toEqual(sorted);
  });
});
