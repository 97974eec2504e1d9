// Queries on a store as Observables.
import type { KubernetesObject } from '@kube-rx/apimachinery';
import type { Live } from '../rest/resource-type.ts';
import type { Informer } from '../shared-informer/informer.ts';
import type { ReadonlyStore } from '../store/store.ts';
import { Observable } from './rxjs.ts';

/**
 * The result of a query: once the informer has synced, then after each change that gives another result. Changes of one turn count as
 * one. Never errors; completes with the informer.
 *
 * @example
 * select$(pods, (store) => store.by('node', 'worker-3')).subscribe((onNode) => console.log(onNode.length));
 */
export function select$<T extends KubernetesObject, I extends string>(
  informer: Informer<T, I>,
  query: (store: ReadonlyStore<T, I>) => readonly Live<T>[],
): Observable<readonly Live<T>[]> {
  return new Observable((subscriber) => {
    let last: readonly Live<T>[] | undefined;
    let scheduled = false;
    const emit = (): void => {
      scheduled = false;
      if (subscriber.closed || !informer.hasSynced) return;
      const next = query(informer.store);
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

function sameObjects(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((each, index) => each === b[index]);
}
