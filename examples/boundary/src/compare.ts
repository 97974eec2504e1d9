// Is a cache what a list says?

export interface Listed {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly uid: string;
    readonly resourceVersion: string;
  };
}

const MAX_DIFFERENCES = 5;

export function keyOf({ metadata }: Listed): string {
  return metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;
}

/** In words, at most a few; empty when the two hold the same objects in the same states. */
export function differences(cached: readonly Listed[], listed: readonly Listed[]): string[] {
  const found: string[] = [];
  const inCache = new Map(cached.map((object) => [keyOf(object), object]));
  for (const object of listed) {
    const key = keyOf(object);
    const other = inCache.get(key);
    inCache.delete(key);
    if (other === undefined) found.push(`${key} is missing`);
    else if (other.metadata.resourceVersion !== object.metadata.resourceVersion) {
      found.push(`${key} is at ${other.metadata.resourceVersion}, not ${object.metadata.resourceVersion}`);
    } else if (canonical(other) !== canonical(object)) found.push(`${key} has another content`);
  }
  for (const key of inCache.keys()) found.push(`${key} should not be there`);
  return found.slice(0, MAX_DIFFERENCES);
}

/** Order of fields means nothing; items of lists come without kind and apiVersion. */
function canonical(object: Listed): string {
  const { kind: _kind, apiVersion: _version, ...rest } = object as Listed & { kind?: unknown; apiVersion?: unknown };
  return JSON.stringify(rest, (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
