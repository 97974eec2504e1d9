// One watch as a cold Observable: a request for each subscriber, no back-pressure.
import type { KubernetesObject } from '@kube-rx/apimachinery';
import { StatusError } from '@kube-rx/apimachinery';
import { childSignal } from '../rest/child-signal.ts';
import type { WatchStream } from '../rest/lister-watcher.ts';
import { Observable } from '../rx/rxjs.ts';
import type { LiveWatchEvent, OpenWatch } from './watch-iterable.ts';

/**
 * Completes when the server ends the watch or the signal aborts; errors with a StatusError for an ERROR event or a refused watch,
 * with a TransportError when the connection fails. Unsubscribing closes the connection.
 */
export function watchObservable<T extends KubernetesObject>(
  open: OpenWatch<T>,
  signal?: AbortSignal | undefined,
): Observable<LiveWatchEvent<T>> {
  return new Observable((subscriber) => {
    const child = childSignal(signal);
    let stream: WatchStream<T> | undefined;
    const onAbort = (): void => subscriber.complete();
    child.signal.addEventListener('abort', onAbort, { once: true });
    subscriber.add(() => {
      stream?.stop();
      child.abort();
      child.release();
    });
    if (child.signal.aborted) {
      subscriber.complete();
      return;
    }
    open(child.signal).then(
      (opened) => {
        if (subscriber.closed) {
          opened.stop();
          return;
        }
        stream = opened;
        opened.start({
          next(event) {
            if (event.type === 'ERROR') subscriber.error(new StatusError(event.object));
            else subscriber.next(event);
          },
          end(error) {
            if (error === undefined) subscriber.complete();
            else subscriber.error(error);
          },
        });
      },
      (error: unknown) => subscriber.error(error),
    );
  });
}
