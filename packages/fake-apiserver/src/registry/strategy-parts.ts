// Pieces most strategies are made of: the status is not for the main resource, the rest not for the status.
import { assign, clone, type Draft, get, num, put, semanticEqual } from './draft.ts';
import type { UpdateStrategy } from './strategy.ts';
import { metadata } from './validation/object-meta.ts';

/** An object starts without a status. */
export function dropStatus(object: Draft): void {
  delete object['status'];
}

export function keep(object: Draft, old: Draft, ...fields: readonly string[]): void {
  for (const field of fields) assign(object, field, clone(get(old, field)));
}

export function keepMeta(object: Draft, old: Draft, ...fields: readonly string[]): void {
  keep(metadata(object), metadata(old), ...fields);
}

export function startGeneration(object: Draft): void {
  put(metadata(object), 'generation', 1);
}

/** +1 when one of the fields changed. */
export function countGeneration(object: Draft, old: Draft, ...fields: readonly string[]): void {
  if (fields.every((field) => semanticEqual(get(object, field), get(old, field)))) return;
  put(metadata(object), 'generation', (num(metadata(old), 'generation') ?? 0) + 1);
}

export interface StatusPartOptions {
  /** Fields of the metadata the status path may not change. */
  readonly keepsMeta?: readonly string[];
  /** Default `spec`. */
  readonly keeps?: readonly string[];
  readonly validate?: NonNullable<UpdateStrategy['validateUpdate']>;
}

/** The `status` subresource. */
export function statusPart(options: StatusPartOptions = {}): UpdateStrategy {
  const { keepsMeta = [], keeps = ['spec'], validate } = options;
  return {
    prepareForUpdate(object, old) {
      keep(object, old, ...keeps);
      keepMeta(object, old, ...keepsMeta);
    },
    ...(validate === undefined ? {} : { validateUpdate: validate }),
  };
}

/** What field management leaves out of a kind with a status. */
export function statusResetFields(
  ...statusPaths: readonly (readonly string[])[]
): Readonly<Record<string, readonly (readonly string[])[]>> {
  return { '': [['status']], status: [['spec'], ...statusPaths] };
}
