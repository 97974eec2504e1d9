// Has this handler finished the first state it was given?
// Upstream: client-go@v0.30.3:tools/cache/synctrack/synctrack.go#SingleFileTracker

/** Counts initial items handed over and finished; synced when the source is and no initial item is open. */
export class SyncTracker {
  readonly #upstreamHasSynced: () => boolean;
  #open = 0;

  constructor(upstreamHasSynced: () => boolean) {
    this.#upstreamHasSynced = upstreamHasSynced;
  }

  start(): void {
    this.#open++;
  }

  finish(count = 1): void {
    this.#open -= count;
  }

  get hasSynced(): boolean {
    return this.#open <= 0 && this.#upstreamHasSynced();
  }
}
