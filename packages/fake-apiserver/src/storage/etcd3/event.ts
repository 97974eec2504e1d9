// One change in etcd as a change of an object, before and after selectors.
// Upstream: apiserver@v0.30.3:pkg/storage/etcd3/event.go#parseEvent, watcher.go#transform
import { goQuote } from '@kube-rx/apimachinery';
import type { EtcdEvent } from '../../etcd/client.ts';
import type { BackingEventType } from '../backing-store.ts';
import type { StorageWatchEvent } from '../interfaces.ts';
import { matchesObject, predicateIsEmpty, type SelectionPredicate } from '../selection-predicate.ts';
import type { StoredObject } from '../stored-object.ts';
import type { Decoder } from './decode.ts';

/** @throws Error when a change does not tell what was there before: compaction took it */
export function parseEvent(event: EtcdEvent): BackingEventType {
  const { type, kv, prevKv } = event;
  if (type === 'put' && kv.createRevision === kv.modRevision) return 'ADDED';
  if (prevKv === undefined) {
    throw new Error(
      `etcd event received with PrevKv=nil (key=${goQuote(kv.key)}, modRevision=${kv.modRevision}, type=${type.toUpperCase()})`,
    );
  }
  return type === 'put' ? 'MODIFIED' : 'DELETED';
}

/** The object an unfiltered watcher gets. */
export function objectOf(decoder: Decoder, type: BackingEventType, event: EtcdEvent): StoredObject {
  return type === 'DELETED' ? decoder.deleted(event.prevKv!, event.kv.modRevision) : decoder.decode(event.kv);
}

/** What a watcher with this predicate gets, undefined for nothing. */
export function transform(
  decoder: Decoder,
  predicate: SelectionPredicate,
  event: EtcdEvent,
): StorageWatchEvent | undefined {
  const type = parseEvent(event);
  if (predicateIsEmpty(predicate)) return { type, object: objectOf(decoder, type, event) };
  const current = type === 'DELETED' ? undefined : decoder.decode(event.kv);
  const isWanted = current !== undefined && matchesObject(predicate, current.object);
  const wasWanted = event.prevKv !== undefined && matchesObject(predicate, decoder.decode(event.prevKv).object);
  if (isWanted) return { type: wasWanted ? 'MODIFIED' : 'ADDED', object: current };
  // It left the selection: the last content that was in it, with the version of the change that took it out.
  return wasWanted ? { type: 'DELETED', object: decoder.deleted(event.prevKv, event.kv.modRevision) } : undefined;
}
