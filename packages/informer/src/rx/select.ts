// Queries on a store as Observables.
import { type KubernetesObject, parseLabelSelector } from '@kube-rx/apimachinery';
import type { Live } from '../rest/resource-type.ts';
import type { Informer } from '../shared-informer/informer.ts';
import type { ReadonlyStore, SelectOptions } from '../store/store.ts';
import { Observable } from './rxjs.ts';

/** Objects under a value of an index. */
export interface IndexQuery<I extends string> {
  readonly index: I | 'namespace';
  readonly value: string;
}

/** A namespace, a selector or both; a value of an index; or any function of the store. */
export type StoreQuery<T extends KubernetesObject, I extends string> =
  | SelectOptions
  | IndexQuery<I>
  | ((store: ReadonlyStore<T, I>) => readonly Live<T>[]);

/**
 * The result of a query: once the informer has synced, then after each change that gives another result. Changes of one turn count as
 * one. Never errors; completes with the informer.
 *
 * @example
 * select$(pods, { index: 'node', value: 'worker-3' }).subscribe((onNode) => console.log(onNode.length));
 * select$(pods, { namespace: 'shop', labels: 'tier in (front, back)' });
 * select$(pods, (store) => store.by('node', 'worker-3')).subscribe((onNode) => console.log(onNode.length));
 */
export function select$<T extends KubernetesObject, I extends string>(
  informer: Informer<T, I>,
  query: StoreQuery<T, NoInfer<I>>,
): Observable<readonly Live<T>[]> {
  const run = queryFunction(query);
  return new Observable((subscriber) => {
    let last: readonly Live<T>[] | undefined;
    let scheduled = false;
    const emit = (): void => {
      scheduled = false;
      if (subscriber.closed || !informer.hasSynced) return;
      const next = run(informer.store);
      if (last !== undefined && sameObjects(last, next)) return;
      last = next;
      subscriber.next(next);
    };
    const schedule = (): void => {
      if (scheduled) return;
      scheduled = true;
      queueMicrotask(emit);
    };
    const registration = informer.events$.subscribe({ next: schedule, complete: () => subscriber.complete() });
    schedule();
    return () => registration.unsubscribe();
  });
}

function queryFunction<T extends KubernetesObject, I extends string>(
  query: StoreQuery<T, I>,
): (store: ReadonlyStore<T, I>) => readonly Live<T>[] {
  if (typeof query === 'function') return query;
  if ('index' in query) return (store) => store.by(query.index, query.value);
  // A selector is parsed once, and a bad one is an error here and not in the stream.
  const labels = typeof query.labels === 'string' ? parseLabelSelector(query.labels) : query.labels;
  return (store) => store.list({ namespace: query.namespace, labels });
}

function sameObjects(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((each, index) => each === b[index]);
}
