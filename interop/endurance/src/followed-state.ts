// What somebody knows who reads nothing but the JSON lines of `kube-informer watch --initial --json`.

interface Line {
  readonly type: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly resourceVersion?: string;
  readonly first?: boolean;
  readonly kind?: string;
  readonly finalState?: string;
  readonly recreated?: boolean;
  readonly object?: AnyStored;
}

/** An object as it is told or listed. */
export interface AnyStored {
  readonly metadata?: { readonly name?: string; readonly namespace?: string; readonly resourceVersion?: string };
}

/**
 * Per object: added, then updated to newer versions, then deleted, and so on; anything else is a problem. `objects` is what is there by
 * `resource namespace/name`.
 */
export class FollowedState {
  readonly objects: Map<string, AnyStored> = new Map<string, AnyStored>();
  readonly problems: string[] = [];
  /** How often each kind of line, and of fault, came. */
  readonly counts: Map<string, number> = new Map<string, number>();
  /** Resources whose first state is complete. */
  readonly synced: Set<string> = new Set<string>();
  readonly #versions = new Map<string, number>();

  read(text: string): void {
    let line: Line;
    try {
      line = JSON.parse(text) as Line;
    } catch {
      this.problems.push(`no JSON: ${text.slice(0, 100)}`);
      return;
    }
    switch (line.type) {
      case 'synced':
        this.synced.add(line.resource);
        this.#count(line.first ? 'first list' : 'relist');
        break;
      case 'fault':
        this.#count(`fault ${line.kind}`);
        break;
      case 'added':
      case 'updated':
      case 'deleted':
        this.#change(line, line.type);
        break;
      default:
        this.#count(line.type);
    }
  }

  #change(line: Line, type: 'added' | 'updated' | 'deleted'): void {
    const { resource, namespace = '', name, resourceVersion, object = {} } = line;
    const key = `${resource} ${namespace}/${name}`;
    const version = Number(resourceVersion);
    const before = this.#versions.get(key);
    const unseen = type === 'deleted' && line.finalState === 'unknown';
    this.#count(unseen ? 'deleted, seen by its absence' : line.recreated ? 'updated, recreated' : type);
    if (this.objects.has(key) !== (type !== 'added')) this.problems.push(`${key} ${type} at ${version} out of turn`);
    if (before !== undefined && (unseen ? version < before : version <= before)) {
      this.problems.push(`${key} ${type} went from ${before} to ${version}`);
    }
    if (object.metadata?.resourceVersion !== resourceVersion) this.problems.push(`${key} has two versions in one line`);
    this.#versions.set(key, version);
    if (type === 'deleted') this.objects.delete(key);
    else this.objects.set(key, object);
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }
}

/** In words, at most some; empty when both hold the same objects in the same states. */
export function differences(
  followed: ReadonlyMap<string, AnyStored>,
  server: ReadonlyMap<string, AnyStored>,
): string[] {
  const found: string[] = [];
  for (const [key, object] of server) {
    const other = followed.get(key);
    if (other === undefined) found.push(`${key} is missing`);
    else if (other.metadata?.resourceVersion !== object.metadata?.resourceVersion) {
      found.push(`${key} is at ${other.metadata?.resourceVersion}, not at ${object.metadata?.resourceVersion}`);
    } else if (canonical(other) !== canonical(object)) found.push(`${key} has another content`);
  }
  for (const key of followed.keys()) if (!server.has(key)) found.push(`${key} should not be there`);
  return found.slice(0, 10);
}

/** Order of fields means nothing. */
function canonical(object: AnyStored): string {
  return JSON.stringify(object, (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
