import { describe, expect, it } from 'vitest';
import { compileJsonPath } from './json-path.ts';
import { compareKubeAwareVersions } from './versions.ts';

const object = {
  metadata: { name: 'a', labels: { 'a.b/c': 'x' } },
  spec: { list: [{ n: 1 }, { n: 2 }, { n: 3 }] },
  status: {
    conditions: [
      { type: 'Other', status: 'False' },
      { type: 'Ready', status: 'True', n: 5 },
    ],
  },
};

describe('compileJsonPath', () => {
  it.each([
    ['.metadata.name', ['a']],
    ['.metadata.none.deep', []],
    ['.metadata.labels.a\\.b/c', ['x']],
    ["['metadata']['name']", ['a']],
    ['.spec.list[1].n', [2]],
    ['.spec.list[-1].n', [3]],
    ['.spec.list[9].n', []],
    ['.spec.list[*].n', [1, 2, 3]],
    ['.spec.list[0:2].n', [1, 2]],
    ['.spec.list[0,2].n', [1, 3]],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    ['.status.conditions[?(@.n>4)].type', ['Ready']],
    ['.status.conditions[?(@.n)].type', ['Ready']],
    ['..n', [1, 2, 3, 5]],
  ])('%s', (path, found) => {
    expect(compileJsonPath(path).find(object)).toEqual(found);
  });

  it('refuses what it cannot read', () => {
    expect(() => compileJsonPath('.a[')).toThrow('unterminated array');
    expect(() => compileJsonPath('.a[x]')).toThrow('invalid array index x');
  });
});

describe('compareKubeAwareVersions', () => {
  it('puts stable versions last, then beta, then alpha, then other names', () => {
    const versions = ['v1', 'v10', 'v2', 'v1beta1', 'v2beta1', 'v1alpha3', 'foo1', 'foo10'];
    expect([...versions].sort(compareKubeAwareVersions).reverse()).toEqual([
      'v10',
      'v2',
      'v1',
      'v2beta1',
      'v1beta1',
      'v1alpha3',
      'foo1',
      'foo10',
    ]);
  });
});
