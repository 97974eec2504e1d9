// What changed between two objects of one type, as sets of fields.
// Upstream: structured-merge-diff@v4.4.1:typed/compare.go
import { jsonEqual } from '../patch/json-value.ts';
import { type FieldSet, FieldSetBuilder } from './field-set.ts';
import { listItemName } from './list-item.ts';
import { fieldElement, type PathElement } from './path-element.ts';
import {
  type Atom,
  deduceAtom,
  type ListAtom,
  type MapAtom,
  type ScalarKind,
  type SmdType,
  sameAtom,
} from './smd-type.ts';
import { asList, asMap, issue, NO_ISSUES, prefixed, printIssues, SmdError, type SmdIssue } from './smd-value.ts';
import { validateScalar } from './validate.ts';

/** No field is in more than one of the sets. */
export interface Comparison {
  readonly removed: FieldSet;
  readonly modified: FieldSet;
  readonly added: FieldSet;
}

/**
 * @throws SmdError when the two do not fit the type.
 */
export function compareTyped(lhs: unknown, rhs: unknown, type: SmdType): Comparison {
  const walker = new CompareWalker();
  const issues = walker.compare({ lhs, rhs, type, inLeaf: false });
  if (issues.length > 0) throw new SmdError(printIssues(issues));
  return {
    removed: walker.removed.build(),
    modified: walker.modified.build(),
    added: walker.added.build(),
  };
}

/** Takes fields and all below them out of a comparison. */
export function excludeFields(comparison: Comparison, fields: FieldSet): Comparison {
  if (fields.isEmpty) return comparison;
  return {
    removed: comparison.removed.recursiveDifference(fields),
    modified: comparison.modified.recursiveDifference(fields),
    added: comparison.added.recursiveDifference(fields),
  };
}

/** A place in both objects; undefined is absent, null is a value. */
interface Place {
  readonly lhs: unknown;
  readonly rhs: unknown;
  readonly type: SmdType | undefined;
  /** Inside of something that is owned as a whole; set while the place is visited. */
  inLeaf: boolean;
}

class CompareWalker {
  readonly removed = new FieldSetBuilder();
  readonly modified = new FieldSetBuilder();
  readonly added = new FieldSetBuilder();
  /** To the present place; steps are pushed and popped on the way. */
  readonly #path: PathElement[] = [];

  compare(place: Place): readonly SmdIssue[] {
    const { lhs, rhs } = place;
    if (lhs === undefined && rhs === undefined) return issue('at least one of lhs and rhs must be provided');
    const atom = place.type?.atom ?? {};
    const left = deduceAtom(atom, lhs);
    const right = deduceAtom(atom, rhs);
    let issues: readonly SmdIssue[];
    if (rhs === undefined) issues = this.#visit(left, place);
    else if (lhs === undefined || sameAtom(left, right)) issues = this.#visit(right, place);
    else issues = [...this.#visit(left, { ...place }), ...this.#visit(right, place)];
    if (!place.inLeaf) {
      if (lhs === undefined) this.added.insert(this.#path);
      else if (rhs === undefined) this.removed.insert(this.#path);
    }
    return issues;
  }

  #below(element: PathElement, place: Place): readonly SmdIssue[] {
    this.#path.push(element);
    const issues = this.compare(place);
    this.#path.pop();
    return prefixed(element, issues);
  }

  #visit(atom: Atom, place: Place): readonly SmdIssue[] {
    if (atom.map !== undefined) return this.#map(atom.map, place);
    if (atom.scalar !== undefined) return this.#scalar(atom.scalar, place);
    if (atom.list !== undefined) return this.#list(atom.list, place);
    return issue('schema error: invalid atom: inlined');
  }

  #leaf(place: Place): void {
    if (place.inLeaf) return;
    place.inLeaf = true;
    if (place.lhs === undefined) this.added.insert(this.#path);
    else if (place.rhs === undefined) this.removed.insert(this.#path);
    else if (!jsonEqual(place.rhs, place.lhs)) this.modified.insert(this.#path);
  }

  #scalar(kind: ScalarKind, place: Place): readonly SmdIssue[] {
    const left = validateScalar(kind, place.lhs, 'lhs: ');
    const right = validateScalar(kind, place.rhs, 'rhs: ');
    if (left.length > 0 && right.length > 0) return [...left, ...right];
    this.#leaf(place);
    return NO_ISSUES;
  }

  #map(map: MapAtom, place: Place): readonly SmdIssue[] {
    const lhs = asMap(place.lhs);
    const rhs = asMap(place.rhs);
    const leftKeys = Object.keys(lhs ?? {});
    const rightKeys = Object.keys(rhs ?? {});
    // Both empty or null is a leaf, so that the difference between the two shows.
    if (map.atomic || (leftKeys.length === 0 && rightKeys.length === 0)) {
      this.#leaf(place);
      return NO_ISSUES;
    }
    const issues: SmdIssue[] = [];
    for (const key of leftKeys) {
      const right = rhs !== undefined && Object.hasOwn(rhs, key) ? rhs[key] : undefined;
      this.#field(map, key, lhs![key], right, place.inLeaf, issues);
    }
    for (const key of rightKeys) {
      if (lhs === undefined || !Object.hasOwn(lhs, key)) {
        this.#field(map, key, undefined, rhs![key], place.inLeaf, issues);
      }
    }
    return issues;
  }

  #field(map: MapAtom, key: string, lhs: unknown, rhs: unknown, inLeaf: boolean, issues: SmdIssue[]): void {
    const type = map.field(key)?.type ?? map.element;
    // The common case, and there is nothing to say about it: the same scalar, of a kind the type knows.
    if (lhs === rhs && typeof lhs !== 'object' && isSettled(type?.atom.scalar, lhs)) return;
    const below = this.#below(fieldElement(key), { lhs, rhs, type, inLeaf });
    if (below.length > 0) issues.push(...below);
  }

  #list(list: ListAtom, place: Place): readonly SmdIssue[] {
    const lhs = asList(place.lhs) ?? [];
    const rhs = asList(place.rhs) ?? [];
    if (list.atomic || (lhs.length === 0 && rhs.length === 0)) {
      this.#leaf(place);
      return NO_ISSUES;
    }
    const issues: SmdIssue[] = [];
    const left = groupItems(list, lhs, issues);
    const right = groupItems(list, rhs, issues);
    for (const element of new Set([...left.keys(), ...right.keys()])) {
      const below = this.#items(list, place, element, left.get(element) ?? [], right.get(element) ?? []);
      if (below.length > 0) issues.push(...below);
    }
    return issues;
  }

  /** Items of one name; more than one on a side are doubles, which are owned by name only. */
  #items(
    list: ListAtom,
    place: Place,
    element: string,
    left: readonly unknown[],
    right: readonly unknown[],
  ): readonly SmdIssue[] {
    const path = [...this.#path, element];
    const item = (lhs: unknown, rhs: unknown): readonly SmdIssue[] =>
      this.#below(element, { lhs, rhs, type: list.element, inLeaf: place.inLeaf });
    if (left.length <= 1 && right.length <= 1) return item(left[0], right[0]);
    if (left.length >= 2 && right.length >= 2) {
      if (!jsonEqual(left, right)) this.modified.insert(path);
      return NO_ISSUES;
    }
    let issues: readonly SmdIssue[] = [];
    if (left.length >= 2) {
      if (right.length > 0) issues = item(undefined, right[0]);
      this.removed.insert(path);
    } else {
      if (left.length > 0) issues = item(left[0], undefined);
      this.added.insert(path);
    }
    return issues;
  }
}

function isSettled(kind: ScalarKind | undefined, value: unknown): boolean {
  return value !== undefined && kind !== undefined && validateScalar(kind, value, '').length === 0;
}

function groupItems(list: ListAtom, items: readonly unknown[], issues: SmdIssue[]): Map<string, unknown[]> {
  const groups = new Map<string, unknown[]>();
  for (const [index, item] of items.entries()) {
    const name = listItemName(list, item);
    if ('problem' in name) {
      issues.push(...issue(`element ${index}: ${name.problem}`));
      continue;
    }
    const group = groups.get(name.element);
    if (group === undefined) groups.set(name.element, [item]);
    else group.push(item);
  }
  return groups;
}
