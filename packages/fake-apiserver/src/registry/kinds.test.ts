// Every recorded kind: what is stored, the cells of its row, and what a delete answers.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRegistry, type RegistryFixture } from '../../test/support/registry-fixture.ts';
import type { ApiObject } from '../storage/api-object.ts';

interface Recorded {
  readonly path: string;
  readonly input: ApiObject;
  readonly create: { readonly status: number; readonly body: Record<string, unknown> };
  readonly cells?: readonly unknown[];
  readonly delete: { readonly status: number; readonly body: Record<string, unknown> };
}

const recorded = JSON.parse(
  readFileSync(new URL('../../test/data/kinds-v1.30.3.json', import.meta.url), 'utf8'),
) as readonly Recorded[];

const VOLATILE = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'lastTransitionTime',
  'lastPhaseTransitionTime',
  'clusterIP',
  'clusterIPs',
  'nodePort',
  'controller-uid',
  'batch.kubernetes.io/controller-uid',
]);

function normal(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normal);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      // Field management is not the registry's.
      .filter(([key]) => key !== 'managedFields')
      .map(([key, field]) => {
        const none = field === 'None' || (Array.isArray(field) && field[0] === 'None');
        return [key, VOLATILE.has(key) && !none ? `<${key}>` : normal(field)];
      }),
  );
}

function cell(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return value
    .replace(/^(\d+y)?(\d+d)?(\d+h)?(\d+m)?\d+s$|^\d+y\d+d$/, '<age>')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/, '<time>')
    .replace(/^10\.\d+\.\d+\.\d+$/, '<ip>')
    .replace(/:3\d{4}\//g, ':<port>/')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<uid>');
}

describe('the registry against recorded kinds', () => {
  let fixture: RegistryFixture;
  beforeAll(async () => {
    fixture = await openRegistry({}, { start: false });
    await fixture.createNamespace('NS'.toLowerCase());
  });
  afterAll(() => fixture.close());

  for (const one of recorded) {
    const label = `${one.path} ${one.input.metadata.name}`;
    it(label, async () => {
      const store = fixture.storeAt(one.path);
      const namespace = one.path.includes('/NS/') ? 'ns' : '';
      const input = JSON.parse(JSON.stringify(one.input).replaceAll('"NS"', '"ns"')) as ApiObject;
      const want = JSON.parse(JSON.stringify(one.create.body).replaceAll('"NS"', '"ns"'));
      const made = await fixture.answer(() =>
        store.create(fixture.ctx, store.applyDefaults(input), { namespace, dryRun: false }),
      );
      expect(normal(made)).toEqual(normal(want));
      if (one.create.status !== 201) return;
      const name = input.metadata.name ?? '';
      const stored = await store.get(fixture.ctx, { namespace, name, resourceVersion: '' });
      expect(store.tableCells(stored.object).map(cell)).toEqual(one.cells?.map(cell));
      const gone = await store.delete(fixture.ctx, { namespace, name, options: {} });
      const answer = gone.deleted && !gone.returnDeletedObject ? { kind: 'Status' } : gone.stored.object;
      const wantGone = JSON.parse(JSON.stringify(one.delete.body).replaceAll('"NS"', '"ns"'));
      expect(normal(answer)).toEqual(wantGone.kind === 'Status' ? { kind: 'Status' } : normal(wantGone));
    });
  }
});
