// What happens to every object before it is created.
// Upstream: apiserver@v0.30.3:pkg/registry/rest/create.go#BeforeCreate, meta.go
import { type GroupVersionKind, newBadRequest, newInvalid } from '@kube-rx/apimachinery';
import { type Draft, put, str } from './draft.ts';
import { generateName, newUid, type Random } from './names.ts';
import type { Strategy, StrategyContext } from './strategy.ts';
import { FieldErrors } from './validation/field-errors.ts';
import {
  metadata,
  nameIsDnsSubdomain,
  nameIsPathSegment,
  validateBuiltInObjectMeta,
  validateObjectMeta,
} from './validation/object-meta.ts';

/** What a client may not decide is taken out. */
export function wipeSystemFields(object: Draft): void {
  const meta = metadata(object);
  for (const field of ['uid', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink']) delete meta[field];
  put(meta, 'creationTimestamp', null);
}

/** Uid, creation time and, for a generateName, the name. */
export function fillSystemFields(object: Draft, now: string, random: Random): void {
  const meta = metadata(object);
  put(meta, 'creationTimestamp', now);
  put(meta, 'uid', newUid(random));
  const base = str(meta, 'generateName');
  if (base !== '' && str(meta, 'name') === '') put(meta, 'name', generateName(base, random));
}

/** @throws StatusError 400 when the object names another namespace than the request. */
export function matchNamespace(object: Draft, namespaced: boolean, requested: string): void {
  const meta = metadata(object);
  const expected = namespaced ? requested : '';
  const named = str(meta, 'namespace');
  if (named === expected) return;
  if (named !== '' && expected !== '') {
    throw newBadRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  if (expected === '') delete meta['namespace'];
  else put(meta, 'namespace', expected);
}

/** What errors call the object: a custom one is of the kind it says, whatever its resource holds. */
export function namedKind(strategy: Strategy, kind: GroupVersionKind, object: Draft): GroupVersionKind {
  return strategy.custom === true && kind.kind !== 'CustomResourceDefinition'
    ? { ...kind, kind: str(object, 'kind') }
    : kind;
}

/** @throws StatusError 422 with every field error of the first check that finds some. */
export function beforeCreate(strategy: Strategy, kind: GroupVersionKind, object: Draft, ctx: StrategyContext): void {
  matchNamespace(object, strategy.namespaced, ctx.namespace);
  const meta = metadata(object);
  strategy.prepareForCreate?.(object, ctx);
  const named = namedKind(strategy, kind, object);
  const errors = new FieldErrors();
  const rules = { namespaced: strategy.namespaced, name: strategy.name ?? nameIsDnsSubdomain };
  if (strategy.custom === true) validateObjectMeta(meta, rules, errors);
  else validateBuiltInObjectMeta(meta, rules, errors);
  strategy.validateCreate?.(object, errors, ctx);
  if (!errors.empty) throw newInvalid(named, str(meta, 'name'), errors.causes);
  validateObjectMeta(meta, { namespaced: strategy.namespaced, name: nameIsPathSegment }, errors);
  if (!errors.empty) throw newInvalid(named, str(meta, 'name'), errors.causes);
  for (const text of strategy.warningsOnCreate?.(object, ctx) ?? []) ctx.request.warn(text);
  strategy.canonicalize?.(object);
}
