// Lays an applied configuration over an object: nothing is removed, leaves of the configuration win, lists are ordered like it.
// Upstream: structured-merge-diff@v4.4.1:typed/merge.go
import { setOwn } from '../schema/json-reader.ts';
import { listItemName } from './list-item.ts';
import { fieldElement, type PathElement, printPathElement } from './path-element.ts';
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

/**
 * @throws SmdError when the two do not fit the type.
 */
export function mergeTyped(lhs: unknown, rhs: unknown, type: SmdType): unknown {
  const { out, issues } = merge(lhs, rhs, type);
  if (issues.length > 0) throw new SmdError(printIssues(issues));
  return out;
}

interface Merged {
  /** Undefined when nothing comes out, e.g. of a list without items. */
  readonly out: unknown;
  readonly issues: readonly SmdIssue[];
}

function merge(lhs: unknown, rhs: unknown, type: SmdType | undefined): Merged {
  if (lhs === undefined && rhs === undefined) {
    return { out: undefined, issues: issue('at least one of lhs and rhs must be provided') };
  }
  const atom = type?.atom ?? {};
  const left = deduceAtom(atom, lhs);
  const right = deduceAtom(atom, rhs);
  if (rhs === undefined) return visit(left, lhs, rhs);
  if (lhs === undefined || sameAtom(left, right)) return visit(right, lhs, rhs);
  // Of different kinds: the left side is only looked at for what is wrong with it.
  const { issues } = visit(left, lhs, rhs);
  const merged = visit(right, lhs, rhs);
  return { out: merged.out, issues: [...issues, ...merged.issues] };
}

function visit(atom: Atom, lhs: unknown, rhs: unknown): Merged {
  if (atom.map !== undefined) return mergeMap(atom.map, lhs, rhs);
  if (atom.scalar !== undefined) return mergeScalar(atom.scalar, lhs, rhs);
  if (atom.list !== undefined) return mergeList(atom.list, lhs, rhs);
  return { out: undefined, issues: issue('schema error: invalid atom: inlined') };
}

const leaf = (lhs: unknown, rhs: unknown): Merged => ({ out: rhs === undefined ? lhs : rhs, issues: NO_ISSUES });

function mergeScalar(kind: ScalarKind, lhs: unknown, rhs: unknown): Merged {
  const left = validateScalar(kind, lhs, 'lhs: ');
  const right = validateScalar(kind, rhs, 'rhs: ');
  if (left.length > 0 && right.length > 0) return { out: undefined, issues: [...left, ...right] };
  return leaf(lhs, rhs);
}

function mergeMap(map: MapAtom, lhs: unknown, rhs: unknown): Merged {
  const left = asMap(lhs);
  const right = asMap(rhs);
  const leftKeys = Object.keys(left ?? {});
  const rightKeys = Object.keys(right ?? {});
  if (map.atomic || (leftKeys.length === 0 && rightKeys.length === 0)) return leaf(lhs, rhs);
  const out: Record<string, unknown> = {};
  const issues: SmdIssue[] = [];
  for (const key of new Set([...leftKeys, ...rightKeys])) {
    const merged = merge(
      left !== undefined && Object.hasOwn(left, key) ? left[key] : undefined,
      right !== undefined && Object.hasOwn(right, key) ? right[key] : undefined,
      map.field(key)?.type ?? map.element,
    );
    if (merged.issues.length > 0) issues.push(...prefixed(fieldElement(key), merged.issues));
    if (merged.out !== undefined) setOwn(out, key, merged.out);
  }
  return { out: Object.keys(out).length > 0 ? out : undefined, issues };
}

function mergeList(list: ListAtom, lhs: unknown, rhs: unknown): Merged {
  const left = asList(lhs) ?? [];
  const right = asList(rhs) ?? [];
  if (list.atomic || (left.length === 0 && right.length === 0)) return leaf(lhs, rhs);
  const applied = indexItems(list, right, false);
  const live = indexItems(list, left, true);
  const issues = [...applied.issues, ...live.issues];
  if (issues.length > 0) return { out: undefined, issues };
  const out = mergeItems(list, left, live, applied);
  return { out: out.length > 0 ? out : undefined, issues };
}

interface Index {
  readonly elements: readonly PathElement[];
  readonly values: ReadonlyMap<PathElement, unknown>;
  readonly issues: readonly SmdIssue[];
}

function indexItems(list: ListAtom, items: readonly unknown[], allowDuplicates: boolean): Index {
  const elements: PathElement[] = [];
  const values = new Map<PathElement, unknown>();
  const issues: SmdIssue[] = [];
  for (const [index, item] of items.entries()) {
    const name = listItemName(list, item);
    if ('problem' in name) {
      issues.push(...issue(`element ${index}: ${name.problem}`));
      continue;
    }
    const known = values.has(name.element);
    if (known && !allowDuplicates) {
      issues.push(...issue(`duplicate entries for key ${printPathElement(name.element)}`));
      continue;
    }
    // Doubles are not merged with what is applied: null stands for them.
    values.set(name.element, known ? null : item);
    elements.push(name.element);
  }
  return { elements, values, issues };
}

/**
 * Items of the configuration in its order; items only the object has stay between the neighbours they had, as far as that
 * goes. Issues of items are dropped, as upstream drops them.
 */
function mergeItems(list: ListAtom, left: readonly unknown[], live: Index, applied: Index): unknown[] {
  const out: unknown[] = [];
  const push = (lhs: unknown, rhs: unknown): void => {
    const merged = merge(lhs, rhs, list.element);
    if (merged.out !== undefined) out.push(merged.out);
  };
  const shared = applied.elements.filter((element) => live.values.has(element));
  const taken = new Set<PathElement>();
  let nextShared = shared.shift();
  let l = 0;
  let r = 0;
  while (l < live.elements.length || r < applied.elements.length) {
    const mine = live.elements[l];
    const theirs = applied.elements[r];
    if (mine !== undefined && theirs !== undefined) {
      if (mine === theirs) {
        taken.add(mine);
        push(live.values.get(mine), applied.values.get(mine));
        l++;
        r++;
        nextShared = shared.shift();
        continue;
      }
      // Shared, but its turn comes later.
      if (applied.values.has(mine) && nextShared !== undefined && nextShared !== mine) {
        l++;
        continue;
      }
    }
    if (mine !== undefined) {
      if (!applied.values.has(mine)) {
        push(left[l], undefined);
        l++;
        continue;
      }
      if (taken.has(mine)) l++;
    }
    if (theirs !== undefined) {
      taken.add(theirs);
      push(live.values.get(theirs), applied.values.get(theirs));
      r++;
      if (nextShared === theirs) nextShared = shared.shift();
    }
  }
  return out;
}
