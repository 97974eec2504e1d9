// Watches that are over before they began.
// Upstream: apiserver@v0.30.3:pkg/storage/cacher/cacher.go#errWatcher, #immediateCloseWatcher
import type { Status } from '@kube-rx/apimachinery';
import type { StorageWatch, StorageWatchEvent } from '../interfaces.ts';

/** Its one event is an error: failures that show only after the response has begun. */
export class ErrWatcher implements StorageWatch {
  #event: StorageWatchEvent | undefined;

  constructor(status: Status) {
    this.#event = { type: 'ERROR', status };
  }

  next(): StorageWatchEvent | undefined {
    const event = this.#event;
    this.#event = undefined;
    return event;
  }

  get done(): boolean {
    return this.#event === undefined;
  }

  onReadable(): void {}

  stop(): void {
    this.#event = undefined;
  }
}

/** No event at all. */
export class ImmediateCloseWatcher implements StorageWatch {
  readonly done = true;

  next(): undefined {
    return undefined;
  }

  onReadable(): void {}

  stop(): void {}
}
