import { StatusError } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import { fillKinds, listResultOf } from './list-result.ts';
import { defineResource } from './resource-type.ts';
import type { Decoding } from './watch-decoder.ts';

const ConfigMaps = defineResource()({ apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', scope: 'Namespaced' });
const result = (value: unknown, decoding: Decoding, items: object[] = [{}]) =>
  listResultOf({ value, hasItems: true }, items, ConfigMaps, decoding);
const bare = (value: unknown, decoding: Decoding) => listResultOf({ value, hasItems: false }, [], ConfigMaps, decoding);
const failure = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  code: 500,
  reason: 'InternalError',
};

describe('listResultOf', () => {
  it('takes version, token and remainder from the metadata', () => {
    const metadata = { resourceVersion: '5', continue: 'c', remainingItemCount: 7 };
    expect(result({ kind: 'ConfigMapList', metadata }, 'tolerant')).toEqual({
      items: [{}],
      resourceVersion: '5',
      continue: 'c',
      remainingItemCount: 7,
    });
    expect(result({ kind: 'ConfigMapList', metadata: null }, 'tolerant')).toMatchObject({
      resourceVersion: '',
      continue: '',
    });
  });

  it.each<[string, unknown, Record<Decoding, string>]>([
    ['a failure as a success', failure, { tolerant: 'StatusError', typed: 'StatusError', dynamic: '[]' }],
    ['null', null, { tolerant: 'NOT_A_LIST', typed: '[]', dynamic: 'NOT_A_LIST' }],
    ['an array', [], { tolerant: 'NOT_A_LIST', typed: 'NOT_A_LIST', dynamic: 'BAD_ITEMS' }],
    [
      'a list without a kind and items',
      { metadata: {} },
      { tolerant: 'NOT_A_LIST', typed: '[]', dynamic: 'NOT_A_LIST' },
    ],
    ['items: null', { kind: 'ConfigMapList', items: null }, { tolerant: '[]', typed: '[]', dynamic: '[]' }],
    [
      'items that are no array',
      { kind: 'ConfigMapList', items: 'x' },
      { tolerant: 'BAD_ITEMS', typed: 'BAD_ITEMS', dynamic: 'BAD_ITEMS' },
    ],
    [
      'a list of a foreign kind',
      { kind: 'WidgetList', apiVersion: 'acme.test/v1' },
      { tolerant: 'NOT_A_LIST', typed: 'UNKNOWN_KIND', dynamic: '[]' },
    ],
    [
      'a list of another kind',
      { kind: 'PodList', apiVersion: 'v1' },
      { tolerant: 'NOT_A_LIST', typed: '[]', dynamic: '[]' },
    ],
  ])('judges %s', (_, value, expected) => {
    for (const decoding of ['tolerant', 'typed', 'dynamic'] as const) {
      let outcome: string;
      try {
        outcome = JSON.stringify(bare(value, decoding).items);
      } catch (error) {
        const { code, name } = error as { code: unknown; name: string };
        outcome = typeof code === 'string' ? code : name;
      }
      expect(`${decoding} ${outcome}`).toBe(`${decoding} ${expected[decoding]}`);
    }
  });

  it('reads a version or token that is no text as none, and fails for it as a generated client would', () => {
    const value = { kind: 'ConfigMapList', metadata: { resourceVersion: 5, continue: null, remainingItemCount: 'x' } };
    for (const decoding of ['tolerant', 'dynamic'] as const) {
      expect(result(value, decoding)).toEqual({ items: [{}], resourceVersion: '', continue: '' });
    }
    expect(() => result(value, 'typed')).toThrow(/metadata of a ConfigMapList/);
  });

  it('takes no Status with a field of another type for one', () => {
    expect(() => result({ ...failure, code: '500' }, 'tolerant')).toThrow(/another type/);
    expect(() => result({ ...failure, code: '500' }, 'typed')).toThrow(/another type/);
  });

  it('takes a failure of any version for one as a generated client would', () => {
    expect(() => result({ ...failure, apiVersion: 'meta.k8s.io/v1' }, 'typed')).toThrow(StatusError);
  });
});

describe('fillKinds', () => {
  it('takes the kind from the list, else from the resource, and leaves what is there', () => {
    const items = [{}, { kind: 'Other', apiVersion: 'x/v1' }];
    fillKinds(items, { kind: 'ThingList', apiVersion: 'y/v1' }, ConfigMaps, 'tolerant');
    expect(items).toMatchObject([
      { kind: 'Thing', apiVersion: 'y/v1' },
      { kind: 'Other', apiVersion: 'x/v1' },
    ]);
    const unnamed = [{}];
    fillKinds(unnamed, {}, ConfigMaps, 'tolerant');
    expect(unnamed).toMatchObject([{ kind: 'ConfigMap', apiVersion: 'v1' }]);
  });

  it('fails for an item with a field of another type as a generated client would', () => {
    expect(() => fillKinds([{ metadata: { name: 5 } }], {}, ConfigMaps, 'typed')).toThrow(/metadata of a ConfigMap/);
    const secrets = { kind: 'SecretList', apiVersion: 'v1' };
    expect(() => fillKinds([{ data: { v: 5 } }], secrets, ConfigMaps, 'typed')).toThrow(/data of a Secret/);
    expect(() => fillKinds([{ data: { v: '5' } }], secrets, ConfigMaps, 'typed')).toThrow(/base64/);
    const items = [{ metadata: { name: 5, resourceVersion: '7' } }];
    fillKinds(items, {}, ConfigMaps, 'tolerant');
    expect(items).toMatchObject([{ metadata: { resourceVersion: '7' } }]);
    expect(items[0]!.metadata).not.toHaveProperty('name');
  });

  it('refuses an item that is no object; upstream makes an empty one of null', () => {
    expect(() => fillKinds([null], {}, ConfigMaps, 'tolerant')).toThrow(/no object/);
    expect(() => fillKinds([5], {}, ConfigMaps, 'typed')).toThrow(/no object/);
    const items = [null];
    fillKinds(items, {}, ConfigMaps, 'typed');
    expect(items).toEqual([{ kind: 'ConfigMap', apiVersion: 'v1', metadata: {} }]);
  });
});
