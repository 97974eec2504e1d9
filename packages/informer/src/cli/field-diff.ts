// What changed between two states of an object, field by field. Pure.

export interface FieldChange {
  /** `spec.template.spec.containers[web].image`, `metadata.labels["app.kubernetes.io/name"]`. */
  readonly path: string;
  /** undefined when the field is new. */
  readonly before?: unknown;
  /** undefined when the field is gone. */
  readonly after?: unknown;
}

// These change with every write and say nothing.
const IGNORED: ReadonlySet<string> = new Set([
  'metadata.resourceVersion',
  'metadata.managedFields',
  'metadata.generation',
]);

/**
 * The smallest changed fields, in the order of the newer object, then what is gone. Items of a list are matched by `name`, `type`, `key`
 * or `uid` when every item has its own, else by their place.
 */
export function diffFields(before: unknown, after: unknown): FieldChange[] {
  const changes: FieldChange[] = [];
  compare('', before, after, changes);
  return changes;
}

function compare(path: string, before: unknown, after: unknown, changes: FieldChange[]): void {
  if (Object.is(before, after) || IGNORED.has(path)) return;
  if (Array.isArray(before) && Array.isArray(after)) {
    compareLists(path, before, after, changes);
  } else if (isRecord(before) && isRecord(after)) {
    for (const key of new Set([...Object.keys(after), ...Object.keys(before)])) {
      compare(join(path, key), own(before, key), own(after, key), changes);
    }
  } else {
    changes.push({
      path,
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
    });
  }
}

function compareLists(
  path: string,
  before: readonly unknown[],
  after: readonly unknown[],
  changes: FieldChange[],
): void {
  const key = ['name', 'type', 'key', 'uid'].find((each) => isKeyOf(each, before) && isKeyOf(each, after));
  if (key === undefined) {
    for (let index = 0; index < Math.max(before.length, after.length); index++) {
      compare(`${path}[${index}]`, before[index], after[index], changes);
    }
    return;
  }
  const old = new Map(before.map((item) => [(item as Record<string, unknown>)[key], item]));
  for (const item of after) {
    const id = (item as Record<string, unknown>)[key];
    compare(`${path}[${String(id)}]`, old.get(id), item, changes);
    old.delete(id);
  }
  for (const [id, item] of old) compare(`${path}[${String(id)}]`, item, undefined, changes);
}

function isKeyOf(key: string, list: readonly unknown[]): boolean {
  const ids = list.map((item) => (isRecord(item) ? own(item, key) : undefined));
  return ids.every((id) => typeof id === 'string') && new Set(ids).size === ids.length;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const own = (value: Record<string, unknown>, key: string): unknown =>
  Object.hasOwn(value, key) ? value[key] : undefined;

function join(path: string, key: string): string {
  if (!/^[\w-]+$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}

const MAX_VALUE = 80;

/** `spec.replicas: 1 -> 3`; long values are cut. */
export function formatChange({ path, before, after }: FieldChange): string {
  if (before === undefined) return `${path}: ${shorten(after)} (new)`;
  if (after === undefined) return `${path}: ${shorten(before)} (gone)`;
  return `${path}: ${shorten(before)} -> ${shorten(after)}`;
}

function shorten(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= MAX_VALUE ? text : `${text.slice(0, MAX_VALUE - 3)}...`;
}
