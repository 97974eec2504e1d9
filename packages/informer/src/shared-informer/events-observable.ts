// The events of an informer as a hot Observable with replay of the present store.
import type { KubernetesObject } from '@kube-rx/apimachinery';
import { Observable } from '../rx/rxjs.ts';
import type { HandlerRegistry } from './handler-registry.ts';
import type { StoreEvent } from './store-event.ts';

/** Each subscriber is a handler without bound: it must be quick, and what it throws is not caught. */
export function eventsObservable<T extends KubernetesObject>(
  handlers: () => HandlerRegistry<T>,
  onStop: (run: () => void) => () => void,
): Observable<StoreEvent<T>> {
  return new Observable<StoreEvent<T>>((subscriber) => {
    const forget = onStop(() => subscriber.complete());
    if (subscriber.closed) return;
    const registry = handlers();
    const listener = registry.add((event) => subscriber.next(event), 'events$', 'unbounded', 'crash');
    return () => {
      forget();
      void registry.remove(listener);
    };
  });
}
