// What happens to every object before it is updated.
// Upstream: apiserver@v0.30.3:pkg/registry/rest/update.go#BeforeUpdate
import { type GroupVersionKind, newInvalid } from '@kube-rx/apimachinery';
import { matchNamespace, namedKind } from './before-create.ts';
import { assign, type Draft, get, has, put, str } from './draft.ts';
import type { Strategy, StrategyContext, UpdateStrategy } from './strategy.ts';
import { FieldErrors } from './validation/field-errors.ts';
import {
  metadata,
  nameIsPathSegment,
  validateFinalizerNames,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from './validation/object-meta.ts';

export interface UpdateSubject {
  readonly strategy: Strategy;
  readonly kind: GroupVersionKind;
  readonly object: Draft;
  readonly old: Draft;
}

/** @throws StatusError 400 or 422. */
export function beforeUpdate({ strategy, kind, object, old }: UpdateSubject, ctx: StrategyContext): void {
  matchNamespace(object, strategy.namespaced, ctx.namespace);
  const meta = metadata(object);
  const oldMeta = metadata(old);
  assign(meta, 'generation', get(oldMeta, 'generation'));
  const path: UpdateStrategy = ctx.subresource === '' ? strategy : (strategy.subresources?.[ctx.subresource] ?? {});
  path.prepareForUpdate?.(object, old, ctx);
  keepSystemFields(meta, oldMeta);

  const errors = new FieldErrors();
  validateObjectMeta(meta, { namespaced: strategy.namespaced, name: nameIsPathSegment }, errors);
  const changes = new FieldErrors();
  validateObjectMetaUpdate(meta, oldMeta, changes);
  errors.append(changes);
  if (strategy.custom !== true) {
    // Kinds check the metadata once more with rules of their own; causes show what both find twice.
    errors.append(changes);
    validateFinalizerNames(meta, errors);
  }
  path.validateUpdate?.(object, old, errors, ctx);
  if (!errors.empty) throw newInvalid(namedKind(strategy, kind, object), str(meta, 'name'), errors.causes);
  for (const text of path.warningsOnUpdate?.(object, old, ctx) ?? []) ctx.request.warn(text);
  strategy.canonicalize?.(object);
}

function keepSystemFields(meta: Draft, old: Draft): void {
  if (str(meta, 'uid') === '') assign(meta, 'uid', get(old, 'uid'));
  if (has(old, 'creationTimestamp')) put(meta, 'creationTimestamp', get(old, 'creationTimestamp'));
  if (has(old, 'deletionTimestamp')) put(meta, 'deletionTimestamp', get(old, 'deletionTimestamp'));
  if (has(old, 'deletionGracePeriodSeconds') && !has(meta, 'deletionGracePeriodSeconds'))
    put(meta, 'deletionGracePeriodSeconds', get(old, 'deletionGracePeriodSeconds'));
}
