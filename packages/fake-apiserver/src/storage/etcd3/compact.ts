// Removes old history from etcd at an interval; API servers that share an etcd agree through one key who does it.
// Upstream: apiserver@v0.30.3:pkg/storage/etcd3/compact.go
import { type Clock, type ClockTimer, type Logger, silentLogger } from '@kube-rx/apimachinery';
import type { EtcdClient, Revision } from '../../etcd/client.ts';
import { isEtcdError } from '../../etcd/errors.ts';

/** Lies outside the prefix of all objects, so that no watch sees its changes. */
export const COMPACT_REV_KEY = 'compact_rev_key';

export interface CompactorOptions {
  readonly etcd: EtcdClient;
  readonly clock: Clock;
  /** `--etcd-compaction-interval`; 0 turns it off. Default 5 minutes. */
  readonly intervalMs?: number | undefined;
  readonly logger?: Logger | undefined;
}

export interface CompactionState {
  /** Version of the shared key: counts the rounds of all servers. */
  readonly time: number;
  /** What the next won round will compact to. */
  readonly revision: Revision;
}

export class Compactor {
  readonly #options: CompactorOptions;
  #state: CompactionState = { time: 0, revision: 0 };
  #timer: ClockTimer | undefined;
  #running = false;

  constructor(options: CompactorOptions) {
    this.#options = options;
  }

  get state(): CompactionState {
    return this.#state;
  }

  start(): void {
    const intervalMs = this.#options.intervalMs ?? 300_000;
    if (intervalMs <= 0 || this.#running) return;
    this.#running = true;
    const arm = (): void => {
      this.#timer = this.#options.clock.setTimer(
        () => void this.#round().finally(() => this.#running && arm()),
        intervalMs,
        {
          unref: true,
        },
      );
    };
    arm();
  }

  stop(): void {
    this.#running = false;
    this.#timer?.cancel();
  }

  async #round(): Promise<void> {
    try {
      this.#state = await compactOnce(this.#options.etcd, this.#state);
    } catch (error) {
      (this.#options.logger ?? silentLogger).error('etcd: endpoint failed to compact', { error });
    }
  }
}

/** One round. The winner compacts to the revision of the round before, so everybody has an interval to catch up. */
export async function compactOnce(etcd: EtcdClient, { time, revision }: CompactionState): Promise<CompactionState> {
  const answer = await etcd.txn({
    compare: [{ key: COMPACT_REV_KEY, target: 'version', equals: time }],
    success: [{ op: 'put', key: COMPACT_REV_KEY, value: Buffer.from(String(revision)) }],
    failure: [{ op: 'range', key: COMPACT_REV_KEY }],
  });
  if (!answer.succeeded) {
    const read = answer.responses[0];
    const version = read?.op === 'range' ? (read.kvs[0]?.version ?? 0) : 0;
    return { time: version, revision: answer.revision };
  }
  const next: CompactionState = { time: time + 1, revision: answer.revision };
  // The first round of a server only learns where it stands.
  if (revision === 0) return next;
  try {
    await etcd.compact(revision);
  } catch (error) {
    if (!isEtcdError(error, 'Compacted')) throw error;
  }
  return next;
}
