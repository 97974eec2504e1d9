// What a decoded LIST answer is worth, by how strictly it is judged. Pure.
// Upstream: client-go@v0.30.3:rest/request.go#Into, dynamic/simple.go#List
import type { KubernetesObject } from '@kube-rx/apimachinery';
import { StatusError } from '@kube-rx/apimachinery';
import { DecodeError } from '../errors.ts';
import { requireTypes } from './generated-types.ts';
import type { JsonObject } from './json-shape.ts';
import { isJsonObject, soundStatus } from './json-shape.ts';
import { isKnownKind, parseApiVersion } from './known-kinds.ts';
import type { ListEnvelope } from './list-decoder.ts';
import type { ListResult } from './lister-watcher.ts';
import type { ResourceType } from './resource-type.ts';
import type { Decoding } from './watch-decoder.ts';
import { readableMetadata } from './watch-decoder.ts';

interface ListFields {
  readonly kind?: unknown;
  readonly apiVersion?: unknown;
  readonly metadata?: unknown;
  readonly items?: unknown;
}

/** Items of built-in lists carry neither kind nor apiVersion; in the cache they look as they do in a watch event. */
export function fillKinds(items: unknown[], head: unknown, type: ResourceType, decoding: Decoding): void {
  const list = head as ListFields;
  const listKind = typeof list.kind === 'string' ? list.kind : '';
  const kind = listKind.endsWith('List') ? listKind.slice(0, -'List'.length) : type.kind;
  const apiVersion = typeof list.apiVersion === 'string' && list.apiVersion !== '' ? list.apiVersion : type.apiVersion;
  if (decoding === 'typed') isOwnList(list, type);
  const judged = decoding === 'typed' && (listKind === '' || listKind.endsWith('List'));
  for (let index = 0; index < items.length; index++) {
    // client-go makes an empty object of a null.
    if (items[index] === null && decoding !== 'tolerant') items[index] = {};
    const item = items[index];
    if (!isJsonObject(item)) throw new DecodeError('BAD_ITEMS', 'an item of the list is no object');
    if (judged) requireTypes(item, kind);
    readableMetadata(item);
    if (item['kind'] !== undefined && item['kind'] !== '') continue;
    Object.assign(item, { kind, apiVersion });
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
    throw new DecodeError(
      decoding === 'dynamic' && value !== null ? 'BAD_ITEMS' : 'NOT_A_LIST',
      'list answer is no JSON object',
    );
  }
  const list = value as ListFields;
  const kind = typeof list.kind === 'string' ? list.kind : '';
  if (decoding === 'dynamic') requireItems(list, hasItems, decoding);
  if (decoding === 'dynamic' && kind === '')
    throw new DecodeError('NOT_A_LIST', "Object 'Kind' is missing in the list");
  if (decoding === 'dynamic' && parseApiVersion(textOf(list.apiVersion)) === undefined)
    throw new DecodeError('NOT_A_LIST', 'the version of the list is none');
  // The dynamic client takes a failure for a list without items.
  if (decoding !== 'dynamic' && kind === 'Status') {
    const status = soundStatus(value);
    if (status === undefined) throw new DecodeError('BAD_ITEMS', 'a Status has a field of another type');
    if (status.status !== 'Success') throw new StatusError(status);
  }
  if (decoding === 'typed' && !isOwnList(list, type)) return nothing;
  requireItems(list, hasItems, decoding);
  const metadata = isJsonObject(list.metadata) ? list.metadata : {};
  const { remainingItemCount } = metadata;
  return {
    items,
    resourceVersion: textOf(metadata['resourceVersion']),
    continue: textOf(metadata['continue']),
    ...(typeof remainingItemCount === 'number' ? { remainingItemCount } : {}),
  };
}

function requireItems({ kind, items }: ListFields, hasItems: boolean, decoding: Decoding): void {
  if (hasItems || items === null || (decoding !== 'tolerant' && items === undefined)) return;
  if (items === undefined) throw new DecodeError('NOT_A_LIST', `answer of kind ${JSON.stringify(kind)} has no items`);
  throw new DecodeError('BAD_ITEMS', 'items is no array');
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A generated client decodes another kind that it knows beside its own list, which stays empty. */
function isOwnList(list: ListFields, type: ResourceType): boolean {
  const own = `${type.kind}List`;
  for (const field of [list.kind, list.apiVersion]) {
    if (field !== undefined && field !== null && typeof field !== 'string')
      throw new DecodeError('NOT_A_LIST', 'kind or version of the list is no text');
  }
  const kind = textOf(list.kind) || own;
  const given = textOf(list.apiVersion);
  const apiVersion = given === '' || given === '/' ? type.apiVersion : given;
  if (parseApiVersion(apiVersion) === undefined) throw new DecodeError('BAD_ITEMS', `${apiVersion} is no version`);
  if (!isKnownKind(apiVersion, kind))
    throw new DecodeError('UNKNOWN_KIND', `no kind ${kind} is registered for ${apiVersion}`);
  requireTypes(list as JsonObject, kind);
  return kind === own;
}
