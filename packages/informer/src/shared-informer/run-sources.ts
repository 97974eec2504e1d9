// Runs the lists and watches of one informer together, each with a signal of its own: the listeners of many namespaces on one signal
// would look like a leak, to Node and to who reads its warning.
import type { KubernetesObject } from '@kube-rx/apimachinery';
import type { InformerSource } from './informer-source.ts';

/** Resolves when every source has released what it had, after the signal. */
export async function runSources<T extends KubernetesObject>(
  sources: readonly Pick<InformerSource<T>, 'run'>[],
  signal: AbortSignal,
  stopReason: () => 'aborted' | 'disposed',
): Promise<void> {
  const controllers = sources.map(() => new AbortController());
  const stop = (): void => {
    for (const controller of controllers) controller.abort(signal.reason);
  };
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  await Promise.all(sources.map((source, index) => source.run(controllers[index]!.signal, stopReason)));
  signal.removeEventListener('abort', stop);
}
