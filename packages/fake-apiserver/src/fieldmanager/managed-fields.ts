// The managedFields of an object: who owns which fields, in which version, since when.
// Upstream: apimachinery@v0.30.3:pkg/util/managedfields/internal/managedfields.go
import type { ManagedFieldsEntry } from '@kube-rx/apimachinery';
import { jsonEqual } from '../patch/json-value.ts';
import { FieldSet } from './field-set.ts';
import { fromFieldsV1, toFieldsV1 } from './fields-v1.ts';
import { compareStrings } from './path-element.ts';

/** What one manager owns. */
export interface VersionedSet {
  readonly set: FieldSet;
  readonly apiVersion: string;
  /** By server-side apply; false for any other write. */
  readonly applied: boolean;
}

/** By manager identifier; see {@link managerIdentifier}. */
export interface Managed {
  readonly fields: Map<string, VersionedSet>;
  readonly times: Map<string, string | undefined>;
}

export interface ManagerParts {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string;
}

export const emptyManaged = (): Managed => ({ fields: new Map(), times: new Map() });

/** Appliers are the same manager in every version, others one per version. */
export function managerIdentifier({ manager, operation, apiVersion, subresource }: ManagerParts): string {
  // Written out: every update makes some, and objects for JSON.stringify would cost more than the rest of this.
  const first = manager === '' ? '' : `"manager":${JSON.stringify(manager)},`;
  const version = operation === 'Apply' || apiVersion === '' ? '' : `,"apiVersion":${JSON.stringify(apiVersion)}`;
  const last = subresource === '' ? '' : `,"subresource":${JSON.stringify(subresource)}`;
  return `{${first}"operation":${JSON.stringify(operation)}${version}${last}}`;
}

// Few managers write again and again.
const MAX_KNOWN_PARTS = 1000;
const knownParts = new Map<string, ManagerParts>();

export function managerParts(identifier: string): ManagerParts {
  let parts = knownParts.get(identifier);
  if (parts === undefined) {
    parts = parseIdentifier(identifier);
    if (knownParts.size >= MAX_KNOWN_PARTS) knownParts.clear();
    knownParts.set(identifier, parts);
  }
  return parts;
}

function parseIdentifier(identifier: string): ManagerParts {
  const { manager, operation, apiVersion, subresource } = JSON.parse(identifier) as Partial<ManagerParts>;
  return {
    manager: manager ?? '',
    operation: operation ?? 'Update',
    apiVersion: apiVersion ?? '',
    subresource: subresource ?? '',
  };
}

/** Entries that cannot be read; the message is upstream's. */
export class ManagedFieldsError extends Error {
  override readonly name = 'ManagedFieldsError';
}

/**
 * @param known Entries whose sets were read before, at best the same ones.
 * @throws ManagedFieldsError for an entry that is none.
 */
export function decodeManagedFields(
  entries: readonly ManagedFieldsEntry[] | undefined,
  known?: readonly ManagedFieldsEntry[],
): Managed {
  const managed = emptyManaged();
  for (const [index, entry] of (entries ?? []).entries()) {
    const { operation, apiVersion = '', fieldsType = '' } = entry;
    if (operation !== 'Apply' && operation !== 'Update') {
      throw new ManagedFieldsError('operation must be `Apply` or `Update`');
    }
    if (apiVersion === '') throw new ManagedFieldsError('apiVersion must not be empty');
    if (fieldsType === '') throw new ManagedFieldsError(`missing fieldsType in managed fields entry ${index}`);
    if (fieldsType !== 'FieldsV1') {
      throw new ManagedFieldsError(`invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${index}`);
    }
    const identifier = managerIdentifier({
      manager: entry.manager ?? '',
      operation,
      apiVersion,
      subresource: entry.subresource ?? '',
    });
    managed.fields.set(identifier, { set: readSet(entry, known?.[index]), apiVersion, applied: operation === 'Apply' });
    managed.times.set(identifier, entry.time ?? undefined);
  }
  return managed;
}

function readSet(entry: ManagedFieldsEntry, known: ManagedFieldsEntry | undefined): FieldSet {
  try {
    if (entry.fieldsV1 === undefined) return FieldSet.empty;
    const same = known?.fieldsV1 !== undefined && jsonEqual(entry.fieldsV1, known.fieldsV1);
    return fromFieldsV1(same ? known.fieldsV1 : entry.fieldsV1);
  } catch (error) {
    throw new ManagedFieldsError(`error decoding set: ${(error as Error).message}`, { cause: error });
  }
}

/** Undefined when nobody owns anything. Appliers first, then by time and name, fields in the order of Go's struct. */
export function encodeManagedFields(managed: Managed): ManagedFieldsEntry[] | undefined {
  if (managed.fields.size === 0) return undefined;
  const entries = [...managed.fields].map(([identifier, versioned]): ManagedFieldsEntry => {
    const { manager, operation, subresource } = managerParts(identifier);
    const time = managed.times.get(identifier);
    return {
      ...(manager === '' ? {} : { manager }),
      operation: versioned.applied ? 'Apply' : operation,
      apiVersion: versioned.apiVersion,
      ...(time === undefined ? {} : { time }),
      fieldsType: 'FieldsV1',
      fieldsV1: toFieldsV1(versioned.set),
      ...(subresource === '' ? {} : { subresource }),
    };
  });
  return entries.sort(compareEntries);
}

const seconds = (time: string | undefined): number =>
  time === undefined ? 0 : Math.floor(new Date(time).getTime() / 1000);

function compareEntries(a: ManagedFieldsEntry, b: ManagedFieldsEntry): number {
  return (
    compareStrings(a.operation ?? '', b.operation ?? '') ||
    seconds(a.time) - seconds(b.time) ||
    compareStrings(a.manager ?? '', b.manager ?? '') ||
    compareStrings(a.apiVersion ?? '', b.apiVersion ?? '') ||
    compareStrings(a.subresource ?? '', b.subresource ?? '')
  );
}

/** True for what a client sends to start over: an empty list, or one empty entry. */
export function isResetManagedFields(entries: readonly ManagedFieldsEntry[] | undefined): boolean {
  if (entries === undefined) return false;
  return entries.length === 0 || (entries.length === 1 && Object.keys(entries[0] ?? {}).length === 0);
}

const MAX_UPDATE_MANAGERS = 10;

/**
 * Keeps the number of entries of updates at ten: the oldest are merged into one `ancient-changes` entry per version.
 *
 * Upstream: apimachinery@v0.30.3:pkg/util/managedfields/internal/capmanagers.go
 */
export function capUpdateManagers({ fields, times }: Managed): void {
  const updaters = [...fields].filter(([, { applied }]) => !applied).map(([identifier]) => identifier);
  let count = updaters.length;
  if (count <= MAX_UPDATE_MANAGERS) return;
  updaters.sort((a, b) => seconds(times.get(a)) - seconds(times.get(b)) || compareStrings(a, b));
  const firstOfVersion = new Map<string, string>();
  for (const manager of updaters) {
    if (count <= MAX_UPDATE_MANAGERS) return;
    const versioned = fields.get(manager)!;
    const { apiVersion } = versioned;
    const first = firstOfVersion.get(apiVersion);
    if (first === undefined) {
      // Alone of its version it may stay under its own name.
      firstOfVersion.set(apiVersion, manager);
      continue;
    }
    const bucket = managerIdentifier({
      manager: 'ancient-changes',
      operation: 'Update',
      apiVersion,
      subresource: '',
    });
    if (!fields.has(bucket)) {
      fields.set(bucket, fields.get(first)!);
      fields.delete(first);
    }
    fields.set(bucket, { ...versioned, set: versioned.set.union(fields.get(bucket)!.set) });
    if (manager !== bucket) fields.delete(manager);
    count--;
    times.set(bucket, times.get(manager));
  }
}
