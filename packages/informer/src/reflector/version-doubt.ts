// Does the server still know the version that a watch goes on from? One that was restored from a backup may not: it keeps such a watch
// open and silent until its versions have come that far, while the cache shows a past that never was.
// Differs: client-go does not ask.
import type { Clock, KubernetesObject } from '@kube-rx/apimachinery';
import { sleep } from '@kube-rx/apimachinery';
import type { ListerWatcher } from '../rest/lister-watcher.ts';
import { failureOf } from './error-classes.ts';

export interface VersionDoubtOptions<T extends KubernetesObject> {
  readonly listerWatcher: ListerWatcher<T>;
  readonly clock: Clock;
  readonly unref: boolean;
  /** How long the stream after a lost one may be silent before the server is asked, ms; 0 never asks. */
  readonly afterMs: number;
}

/** A restore ends every connection, so a version is in doubt once a stream at it was lost, until the server was asked or sent another. */
export class VersionDoubt<T extends KubernetesObject> {
  readonly #options: VersionDoubtOptions<T>;
  #doubted: string | undefined;

  constructor(options: VersionDoubtOptions<T>) {
    this.#options = options;
  }

  /** The stream at that version was lost, or could not be opened. */
  raise(version: string): void {
    if (version !== '') this.#doubted = version;
  }

  /**
   * Asks for one object "not older than" the version when that is in doubt and still what `silentAt` says after a while; undefined means
   * that something came. Resolves with the server's error when the version is of its future, else with undefined. Never rejects.
   */
  async check(version: string, silentAt: () => string | undefined, signal: AbortSignal): Promise<Error | undefined> {
    const { listerWatcher, clock, unref, afterMs } = this.#options;
    if (version !== this.#doubted || afterMs <= 0) return undefined;
    try {
      await sleep(clock, afterMs, { signal, unref });
      if (silentAt() !== version) return undefined;
      const options = { limit: 1, resourceVersion: version, resourceVersionMatch: 'NotOlderThan' as const };
      await listerWatcher.list(options, { signal });
      this.#doubted = undefined;
    } catch (thrown) {
      const { error, errorClass } = failureOf(thrown);
      if (!signal.aborted && errorClass === 'too-large') return error;
    }
    return undefined;
  }
}
