import { type KubernetesObject, VirtualClock } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import type { Live } from '../rest/resource-type.ts';
import { defineResource } from '../rest/resource-type.ts';
import { addFinalizer, removeFinalizer, setControllerReference } from './owner-references.ts';
import type { ObjectEvent } from './predicates.ts';
import {
  annotationsChanged,
  distinctValue,
  everyPredicate,
  generationChanged,
  labelsChanged,
  matchesLabels,
  notPredicate,
  resourceVersionChanged,
  somePredicate,
} from './predicates.ts';

type Metadata = NonNullable<KubernetesObject['metadata']>;
const object = (metadata: Metadata): Live<KubernetesObject> => ({
  metadata: { name: 'a', uid: 'u', resourceVersion: '1', ...metadata } as Live<KubernetesObject>['metadata'],
});
const update = (previous: Metadata, next: Metadata, recreated = false): ObjectEvent<KubernetesObject> => ({
  type: 'updated',
  previous: object(previous),
  object: object(next),
  recreated,
  cause: 'watch',
});
const added: ObjectEvent<KubernetesObject> = {
  type: 'added',
  object: object({ labels: { a: 'b' } }),
  initial: true,
  cause: 'list',
};

describe('predicates', () => {
  it.each([
    [generationChanged, { generation: 1 }, { generation: 2 }],
    [resourceVersionChanged, { resourceVersion: '1' }, { resourceVersion: '2' }],
    [labelsChanged, { labels: { a: 'b' } }, { labels: { a: 'c' } }],
    [labelsChanged, { labels: { a: 'b' } }, { labels: { b: 'b' } }],
    [annotationsChanged, {}, { annotations: { a: 'c' } }],
  ])('let an update through when what they look at changed', (predicate, before, after) => {
    expect(predicate(update(before, after))).toBe(true);
    expect(predicate(update(after, after))).toBe(false);
    expect(predicate(update(after, after, true))).toBe(true);
    expect(predicate(added)).toBe(true);
  });

  it('match labels of the object as it is or was', () => {
    const wanted = matchesLabels('a=b');
    expect(wanted(added)).toBe(true);
    expect(wanted(update({ labels: { a: 'b' } }, {}))).toBe(true);
    expect(wanted(update({}, { labels: { a: 'c' } }))).toBe(false);
  });

  // Upstream test: kube-rs@4.2.0:kube-runtime/src/utils/predicate.rs
  it('let an event through when a value differs from that of the last one that got through, for some time', () => {
    const clock = new VirtualClock();
    const wanted = distinctValue((each) => each.metadata.generation, { ttlMs: 1000, clock });
    const states = [{ generation: 1 }, { generation: 1 }, { generation: 2 }, { generation: 1 }, { generation: 1 }];
    expect(states.map((state) => wanted(update({}, state)))).toEqual([true, false, true, true, false]);
    // Another object under the name, and another name.
    expect(wanted(update({}, { generation: 1, uid: 'u2' }, true))).toBe(true);
    expect(wanted(update({}, { generation: 1, uid: 'u2' }))).toBe(false);
    expect(wanted(update({}, { generation: 1, uid: 'u2', name: 'b' }))).toBe(true);
    clock.advanceSync(1000);
    expect(wanted(update({}, { generation: 1, uid: 'u2' }))).toBe(false);
    clock.advanceSync(1);
    expect(wanted(update({}, { generation: 1, uid: 'u2' }))).toBe(true);
    const gone: ObjectEvent<KubernetesObject> = {
      type: 'deleted',
      object: object({ generation: 1, uid: 'u2' }),
      finalState: 'known',
      cause: 'watch',
    };
    expect([wanted(gone), wanted(gone)]).toEqual([true, true]);
    expect(wanted({ ...added, object: object({ generation: 1, uid: 'u2' }) })).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('remember no more values than told', () => {
    const wanted = distinctValue((each) => each.metadata.generation, { max: 2 });
    const seen = (name: string) => wanted(update({}, { name, generation: 1 }));
    expect(['a', 'b', 'c', 'b', 'c', 'a'].map(seen)).toEqual([true, true, true, false, false, true]);
    for (const bad of [{ ttlMs: 0 }, { max: 0 }])
      expect(() => distinctValue(() => 1, bad)).toThrow(Object.keys(bad)[0]!);
  });

  it('can be combined', () => {
    const event = update({ generation: 1 }, { generation: 2 });
    expect(everyPredicate(generationChanged, labelsChanged)(event)).toBe(false);
    expect(somePredicate(generationChanged, labelsChanged)(event)).toBe(true);
    expect(notPredicate(generationChanged)(event)).toBe(false);
  });
});

describe('owner references and finalizers', () => {
  const type = defineResource()({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    plural: 'deployments',
    scope: 'Namespaced',
  });
  const owner = { metadata: { name: 'web', namespace: 'shop', uid: 'u1' } };

  it('mark one controller, and keep other owners', () => {
    const other = { apiVersion: 'v1', kind: 'X', name: 'x', uid: 'u0' };
    const given = { metadata: { name: 'rs', namespace: 'shop', ownerReferences: [other] } };
    const once = setControllerReference(given, owner, type);
    const twice = setControllerReference(once, owner, type);
    expect(twice.metadata.ownerReferences).toEqual([
      other,
      { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'u1', controller: true, blockOwnerDeletion: true },
    ]);
    expect(given.metadata.ownerReferences).toEqual([other]);
    expect(() => setControllerReference(once, { metadata: { ...owner.metadata, uid: 'u2' } }, type)).toThrow(
      /Deployment\/web/,
    );
    expect(() => setControllerReference({ metadata: { namespace: 'far' } }, owner, type)).toThrow(/namespace/);
    expect(() => setControllerReference(given, { metadata: { name: 'web' } }, type)).toThrow(/owner/);
  });

  it('add and remove a finalizer once', () => {
    const plain = { metadata: { name: 'a' } };
    const once = addFinalizer(plain, 'x/y');
    expect(once.metadata).toEqual({ name: 'a', finalizers: ['x/y'] });
    expect(addFinalizer(once, 'x/y')).toBe(once);
    expect(removeFinalizer(once, 'x/y').metadata).toEqual({ name: 'a', finalizers: [] });
    expect(removeFinalizer(plain, 'x/y')).toBe(plain);
  });
});
