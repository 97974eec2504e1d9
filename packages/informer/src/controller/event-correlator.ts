// Keeps a controller that says the same thing over and over from filling the cluster with Events. Pure but for the clock.
// Upstream: client-go@v0.30.3:tools/record/events_cache.go#EventCorrelator
import type { Clock } from '@kube-rx/apimachinery';
import { TokenBucket } from '../workqueue/token-bucket.ts';

export type EventType = 'Normal' | 'Warning';

/** What an Event is about; the wire's ObjectReference. */
export interface InvolvedObject {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

export interface Occurrence {
  readonly object: InvolvedObject;
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
}

/** What becomes of an occurrence. */
export type Correlated =
  | { readonly action: 'drop' }
  | { readonly action: 'create'; readonly key: string; readonly message: string }
  | {
      readonly action: 'count';
      readonly key: string;
      readonly message: string;
      readonly name: string;
      readonly count: number;
    };

const CACHE_SIZE = 4096;
const SIMILAR_MESSAGES = 10;
const SIMILAR_WITHIN_MS = 600_000;
const COMBINED_PREFIX = '(combined from similar events): ';
const SPAM_BURST = 25;
const SPAM_QPS = 1 / 300;

interface Similar {
  readonly messages: Set<string>;
  at: number;
}

/**
 * In this order: ten different messages of one reason within ten minutes are combined into one; what was told before is counted; an
 * object about which more than 25 things were told gets one more every five minutes.
 */
export class EventCorrelator {
  readonly #clock: Clock;
  readonly #similar = new Recent<Similar>();
  readonly #told = new Recent<{ readonly name: string; readonly count: number }>();
  readonly #buckets = new Recent<TokenBucket>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  correlate(occurrence: Occurrence, newName: string): Correlated {
    const { object, type, reason, message } = occurrence;
    const about = [object.kind, object.namespace, object.name, object.uid, object.apiVersion];
    const combined = this.#combine(JSON.stringify([...about, type, reason]), message);
    const known = this.#told.get(combined.key);
    const count = (known?.count ?? 0) + 1;
    const name = known?.name ?? newName;
    this.#told.set(combined.key, { name, count });
    if (!this.#mayTell(JSON.stringify(about))) return { action: 'drop' };
    return known === undefined ? { action: 'create', ...combined } : { action: 'count', ...combined, name, count };
  }

  /** The Event is stored under that name, or is not there any more and was made anew. */
  stored(key: string, name: string): void {
    this.#told.set(key, { name, count: this.#told.get(key)?.count ?? 1 });
  }

  #combine(aggregateKey: string, message: string): { readonly key: string; readonly message: string } {
    const now = this.#clock.now();
    let similar = this.#similar.get(aggregateKey);
    if (similar === undefined || now - similar.at > SIMILAR_WITHIN_MS) similar = { messages: new Set(), at: now };
    similar.at = now;
    similar.messages.add(message);
    this.#similar.set(aggregateKey, similar);
    if (similar.messages.size < SIMILAR_MESSAGES) return { key: JSON.stringify([aggregateKey, message]), message };
    // The set must not grow for ever.
    for (const oldest of similar.messages) {
      similar.messages.delete(oldest);
      break;
    }
    return { key: aggregateKey, message: `${COMBINED_PREFIX}${message}` };
  }

  #mayTell(object: string): boolean {
    let bucket = this.#buckets.get(object);
    if (bucket === undefined) bucket = new TokenBucket({ qps: SPAM_QPS, burst: SPAM_BURST, clock: this.#clock });
    this.#buckets.set(object, bucket);
    return bucket.tryAccept();
  }
}

/** A map that forgets what was not used for longest. */
class Recent<V> {
  readonly #entries = new Map<string, V>();

  get(key: string): V | undefined {
    return this.#entries.get(key);
  }

  set(key: string, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= CACHE_SIZE) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      break;
    }
  }
}
