// A watch seen through the conversion of a served version.
import type { StorageWatch, StorageWatchEvent } from '../storage/interfaces.ts';
import type { ConvertedObjects } from './resource-core.ts';

/** A watch whose objects are shown in another version. */
export class ConvertedWatch implements StorageWatch {
  readonly #watch: StorageWatch;
  readonly #converted: ConvertedObjects;

  constructor(watch: StorageWatch, converted: ConvertedObjects) {
    this.#watch = watch;
    this.#converted = converted;
  }

  next(): StorageWatchEvent | undefined {
    const event = this.#watch.next();
    if (event === undefined || event.type === 'ERROR') return event;
    return { ...event, object: this.#converted.of(event.object) };
  }

  get done(): boolean {
    return this.#watch.done;
  }

  onReadable(listener: () => void): void {
    this.#watch.onReadable(listener);
  }

  stop(): void {
    this.#watch.stop();
  }
}
