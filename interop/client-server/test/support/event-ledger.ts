// Holds what a handler is told against what a handler may be told.
import type { KubernetesObject } from '@kube-rx/apimachinery';
import type { StoreEvent } from '@kube-rx/informer';

interface Told {
  readonly uid: string;
  readonly resourceVersion: string;
}

/**
 * Per object: first an addition, then updates to newer versions, then a deletion; never a version twice, never back in time within the
 * life of an object, never an update or deletion of what was not added. `objects` is what the handler must believe there is.
 */
export class EventLedger {
  readonly #joined: boolean;
  readonly objects: Map<string, Told> = new Map<string, Told>();
  readonly violations: string[] = [];
  readonly log: string[] = [];
  deletions = 0;
  /** Deletions of which only the absence of the object was seen. */
  tombstones = 0;
  recreations = 0;
  /** Every state that was told as the present one. */
  readonly states: KubernetesObject[] = [];
  // Version of the last word about a key, so that a deletion cannot be followed by what came before it.
  readonly #latest = new Map<string, number>();

  /** `joined`: events of an object may have been joined on the way, so that some states are never told. */
  constructor(joined = false) {
    this.#joined = joined;
  }

  readonly handle = (event: StoreEvent<KubernetesObject>): void => {
    if (event.type === 'synced') return;
    const { name, namespace = '', uid, resourceVersion } = event.object.metadata;
    const key = `${namespace}/${name}`;
    const known = this.objects.get(key);
    this.log.push(`${event.type} ${key}@${resourceVersion}`);
    if (event.type !== 'deleted') this.states.push(event.object);
    switch (event.type) {
      case 'added':
        if (known !== undefined) this.#violation(`added ${key} twice`);
        this.objects.set(key, { uid, resourceVersion });
        break;
      case 'updated': {
        if (known === undefined) this.#violation(`updated ${key}, which was not there`);
        const previous = event.previous.metadata;
        const same = known?.uid === previous.uid && known.resourceVersion === previous.resourceVersion;
        // Its deletion was joined with what came after it: the final state stands for the one that was told.
        const final = this.#joined && event.recreated && known?.uid === previous.uid;
        if (known !== undefined && !same && !final) {
          this.#violation(`updated ${key} from ${previous.resourceVersion} instead of ${known.resourceVersion}`);
        }
        if (known !== undefined && event.recreated !== (known.uid !== uid))
          this.#violation(`wrong recreated for ${key}`);
        if (event.recreated) this.recreations++;
        this.objects.set(key, { uid, resourceVersion });
        break;
      }
      case 'deleted':
        this.deletions++;
        if (event.finalState === 'unknown') this.tombstones++;
        if (known === undefined) this.#violation(`deleted ${key}, which was not there`);
        else if (known.uid !== uid) this.#violation(`deleted another ${key}`);
        this.objects.delete(key);
        break;
    }
    const version = Number(resourceVersion);
    const latest = this.#latest.get(key);
    // The last known state of a deletion that was missed is told twice.
    const again = event.type === 'deleted' && event.finalState === 'unknown' && version === latest;
    if (latest !== undefined && version <= latest && !again) {
      this.#violation(`${event.type} ${key} went from ${latest} to ${version}`);
    }
    this.#latest.set(key, version);
  };

  #violation(text: string): void {
    this.violations.push(`${text} (event ${this.log.length}: ${this.log.slice(-5).join(', ')})`);
  }
}
