// Ownership of fields through updates and applies: who gains, who loses, what an apply removes, where it conflicts.
// Upstream: structured-merge-diff@v4.4.1:merge/update.go#Updater
import { jsonEqual } from '../patch/json-value.ts';
import { type Comparison, compareTyped, excludeFields } from './compare.ts';
import { ConflictsError, conflictsOf } from './conflicts.ts';
import { FieldSet } from './field-set.ts';
import type { VersionedSet } from './managed-fields.ts';
import { mergeTyped } from './merge.ts';
import { reconcileWithSchema } from './reconcile-schema.ts';
import { removeItems } from './remove-items.ts';
import type { SmdType } from './smd-type.ts';
import { toFieldSet } from './to-field-set.ts';

/** An object with the type of the version it is in. */
export interface TypedObject {
  readonly value: unknown;
  readonly type: SmdType;
  readonly apiVersion: string;
}

/** Undefined for a version that is not served any more: its managers are forgotten. */
export type Convert = (object: TypedObject, apiVersion: string) => TypedObject | undefined;

type Managers = Map<string, VersionedSet>;

export class Updater {
  readonly #convert: Convert;
  readonly #ignored: FieldSet;

  /** @param ignored Fields that a write of this kind never owns, e.g. `status` of a main resource. */
  constructor(convert: Convert, ignored: FieldSet) {
    this.#convert = convert;
    this.#ignored = ignored;
  }

  /** Managers after a write that is no apply; what the write changed belongs to its manager. */
  update(live: TypedObject, next: TypedObject, managers: Managers, manager: string): Managers {
    const result = this.#reconcile(live, managers);
    const comparison = this.#settle(live, next, result, manager, true);
    const before = result.get(manager)?.set ?? FieldSet.empty;
    const set = before
      .difference(comparison.removed)
      .union(comparison.modified)
      .union(comparison.added)
      .recursiveDifference(this.#ignored);
    if (set.isEmpty) result.delete(manager);
    else result.set(manager, { set, apiVersion: next.apiVersion, applied: false });
    return result;
  }

  /**
   * The merged object and its managers; the object is undefined when nothing changes.
   *
   * @throws ConflictsError unless forced.
   */
  apply(
    live: TypedObject,
    config: TypedObject,
    managers: Managers,
    manager: string,
    force: boolean,
  ): { readonly value: unknown; readonly managers: Managers } {
    const result = this.#reconcile(live, managers);
    const merged: TypedObject = { ...live, value: mergeTyped(live.value, config.value, live.type) };
    const last = result.get(manager);
    const set = toFieldSet(config.value, config.type).recursiveDifference(this.#ignored);
    result.set(manager, { set, apiVersion: config.apiVersion, applied: true });
    const next = last === undefined ? merged : this.#prune(merged, result, last, config.apiVersion);
    this.#settle(live, next, result, manager, force);
    return { value: jsonEqual(live.value, next.value) ? undefined : next.value, managers: result };
  }

  /** Takes what changed away from its former owners. Answers with what changed, in the version of the write. */
  #settle(live: TypedObject, next: TypedObject, managers: Managers, workflow: string, force: boolean): Comparison {
    const own = compareTyped(live.value, next.value, live.type);
    const versions = new Map([[live.apiVersion, excludeFields(own, this.#ignored)]]);
    const conflicts = new Map<string, FieldSet>();
    const removed = new Map<string, FieldSet>();
    for (const [manager, { set, apiVersion }] of [...managers]) {
      if (manager === workflow) continue;
      let comparison = versions.get(apiVersion);
      if (comparison === undefined) {
        const [before, after] = [this.#convert(live, apiVersion), this.#convert(next, apiVersion)];
        if (before === undefined || after === undefined) {
          managers.delete(manager);
          continue;
        }
        comparison = excludeFields(compareTyped(before.value, after.value, before.type), this.#ignored);
        versions.set(apiVersion, comparison);
      }
      const taken = set.intersection(comparison.modified.union(comparison.added));
      if (!taken.isEmpty) conflicts.set(manager, taken);
      if (!comparison.removed.isEmpty) removed.set(manager, comparison.removed);
    }
    if (!force && conflicts.size > 0) throw new ConflictsError(conflictsOf(conflicts));
    for (const [manager, versioned] of [...managers]) {
      const rest = versioned.set
        .difference(conflicts.get(manager) ?? FieldSet.empty)
        .difference(removed.get(manager) ?? FieldSet.empty);
      if (rest.isEmpty) managers.delete(manager);
      else if (rest !== versioned.set) managers.set(manager, { ...versioned, set: rest });
    }
    return versions.get(live.apiVersion)!;
  }

  /** Removes what this manager applied last time, not this time, and nobody else owns. */
  #prune(merged: TypedObject, managers: Managers, last: VersionedSet, apiVersion: string): TypedObject {
    if (last.set.isEmpty) return merged;
    const converted = this.#convert(merged, last.apiVersion);
    if (converted === undefined) return merged;
    const { type } = converted;
    const ensure = (set: FieldSet): FieldSet => set.ensureNamedFieldsAreMembers(type);
    let pruned = without(converted, ensure(last.set));
    pruned = this.#addBackOwned(converted, pruned, managers);
    const back = this.#convert(pruned, last.apiVersion);
    if (back === undefined) return merged;
    // What nobody owns, or only updates own, comes back too.
    const gone = ensure(fieldsOf(converted)).difference(ensure(fieldsOf(back)));
    const result = without(converted, gone.intersection(ensure(last.set)));
    return this.#convert(result, apiVersion) ?? result;
  }

  /** Puts back what others own, and what is applied now. */
  #addBackOwned(merged: TypedObject, pruned: TypedObject, managers: Managers): TypedObject {
    const owned = new Map<string, FieldSet>();
    for (const { set, apiVersion } of managers.values()) {
      owned.set(apiVersion, owned.get(apiVersion)?.union(set) ?? set);
    }
    // The version at hand first: a conversion may need fields that were pruned.
    const versions = [...owned.keys()].sort(
      (a, b) => Number(b === merged.apiVersion) - Number(a === merged.apiVersion),
    );
    let [full, rest] = [merged, pruned];
    for (const version of versions) {
      const [fullThere, restThere] = [this.#convert(full, version), this.#convert(rest, version)];
      if (fullThere === undefined || restThere === undefined) continue;
      const ensure = (set: FieldSet): FieldSet => set.ensureNamedFieldsAreMembers(fullThere.type);
      const kept = ensure(fieldsOf(restThere)).union(ensure(owned.get(version)!));
      full = fullThere;
      rest = without(fullThere, ensure(fieldsOf(fullThere)).difference(kept));
    }
    return rest;
  }

  #reconcile(live: TypedObject, managers: Managers): Managers {
    const result: Managers = new Map();
    for (const [manager, versioned] of managers) {
      const there = this.#convert(live, versioned.apiVersion);
      if (there === undefined) continue;
      const set = reconcileWithSchema(versioned.set, there.type);
      result.set(manager, set === versioned.set ? versioned : { ...versioned, set });
    }
    return result;
  }
}

const fieldsOf = ({ value, type }: TypedObject): FieldSet => toFieldSet(value, type);

function without(object: TypedObject, set: FieldSet): TypedObject {
  return { ...object, value: removeItems(object.value, set, object.type) };
}
