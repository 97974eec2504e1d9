// What a decoded LIST answer is worth, by how strictly it is judged. Pure.
// Upstream: client-go@v0.30.3:rest/request.go#Into, dynamic/simple.go#List
import type { KubernetesObject, ListMeta } from '@kube-rx/apimachinery';
import { isStatus, StatusError } from '@kube-rx/apimachinery';
import { DecodeError } from '../errors.ts';
import type { ListEnvelope } from './list-decoder.ts';
import type { ListResult } from './lister-watcher.ts';
import type { ResourceType } from './resource-type.ts';
import type { Decoding } from './watch-decoder.ts';
import { isRegistered, requireBytes } from './watch-decoder.ts';

interface ListFields {
  readonly kind?: unknown;
  readonly apiVersion?: unknown;
  readonly metadata?: ListMeta;
  readonly items?: unknown;
}

/** Items of built-in lists carry neither kind nor apiVersion; in the cache they look as they do in a watch event. */
export function fillKinds(items: unknown[], head: unknown, type: ResourceType, decoding: Decoding): void {
  const list = head as ListFields;
  const listKind = typeof list.kind === 'string' ? list.kind : '';
  const kind = listKind.endsWith('List') ? listKind.slice(0, -'List'.length) : type.kind;
  const apiVersion = typeof list.apiVersion === 'string' && list.apiVersion !== '' ? list.apiVersion : type.apiVersion;
  for (let index = 0; index < items.length; index++) {
    // client-go makes an empty object of a null.
    if (items[index] === null && decoding !== 'tolerant') items[index] = {};
    const item = items[index] as { kind?: string; apiVersion?: string } | null;
    if (typeof item !== 'object' || item === null)
      throw new DecodeError('BAD_ITEMS', 'an item of the list is no object');
    if (item.kind !== undefined && item.kind !== '') continue;
    item.kind = kind;
    item.apiVersion = apiVersion;
  }
}

/** Throws what makes the answer unusable: a DecodeError, or the StatusError it turns out to be. */
export function listResultOf<T extends KubernetesObject>(
  { value, hasItems }: ListEnvelope,
  items: T[],
  type: ResourceType<T>,
  decoding: Decoding,
): ListResult<T> {
  const nothing: ListResult<T> = { items: [], resourceVersion: '', continue: '' };
  if (value === null && decoding === 'typed') return nothing;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new DecodeError('NOT_A_LIST', 'list answer is no JSON object');
  }
  const list = value as ListFields;
  const kind = typeof list.kind === 'string' ? list.kind : '';
  if (decoding === 'dynamic' && kind === '')
    throw new DecodeError('NOT_A_LIST', "Object 'Kind' is missing in the list");
  // The dynamic client takes a failure for a list without items.
  if (decoding !== 'dynamic' && isStatus(value) && value.status !== 'Success') throw new StatusError(value);
  if (decoding === 'typed' && kind !== '' && kind !== `${type.kind}List`) {
    if (!isRegistered(String(list.apiVersion))) throw new DecodeError('UNKNOWN_KIND', `no kind ${kind} is registered`);
    if (kind === 'SecretList') items.forEach(requireBytes);
    // A generated client decodes another registered kind beside its own list, which stays empty.
    return nothing;
  }
  if (!hasItems && list.items !== null && (decoding === 'tolerant' || list.items !== undefined)) {
    const what = list.items === undefined ? `answer of kind ${JSON.stringify(kind)} has no items` : 'items is no array';
    throw new DecodeError(list.items === undefined ? 'NOT_A_LIST' : 'BAD_ITEMS', what);
  }
  const metadata = typeof list.metadata === 'object' && list.metadata !== null ? list.metadata : {};
  return {
    items,
    resourceVersion: metadata.resourceVersion ?? '',
    continue: metadata.continue ?? '',
    ...(metadata.remainingItemCount === undefined ? {} : { remainingItemCount: metadata.remainingItemCount }),
  };
}
