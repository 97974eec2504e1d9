// Does a value fit its type?
// Upstream: structured-merge-diff@v4.4.1:typed/validate.go
import { goPrint } from '../patch/go-print.ts';
import { listItemName } from './list-item.ts';
import { fieldElement, indexElement, printPathElement } from './path-element.ts';
import { deduceAtom, type ListAtom, type MapAtom, type ScalarKind, type SmdType } from './smd-type.ts';
import {
  asList,
  asMap,
  goSyntax,
  goTypeOf,
  issue,
  NO_ISSUES,
  prefixed,
  printIssues,
  SmdError,
  type SmdIssue,
} from './smd-value.ts';

/**
 * @param allowDuplicates True for stored objects; an applied one must not have an item twice.
 * @throws SmdError naming every violation.
 */
export function validateTyped(value: unknown, type: SmdType, allowDuplicates: boolean): void {
  const issues = validate(value, type, allowDuplicates);
  if (issues.length > 0) throw new SmdError(printIssues(issues));
}

/** Upstream prints a value behind its wrapper. */
const wrapped = (value: unknown): string => `&{${goPrint(value)}}`;

function validate(value: unknown, type: SmdType | undefined, allowDuplicates: boolean): readonly SmdIssue[] {
  const atom = deduceAtom(type?.atom ?? {}, value);
  if (atom.map !== undefined) return validateMap(value, atom.map, allowDuplicates);
  if (atom.scalar !== undefined) return validateScalar(atom.scalar, value, '');
  if (atom.list !== undefined) return validateList(value, atom.list, allowDuplicates);
  return issue('schema error: invalid atom: inlined');
}

/** Nothing to say about absent values and null. */
export function validateScalar(kind: ScalarKind, value: unknown, prefix: string): readonly SmdIssue[] {
  if (value === undefined || value === null) return NO_ISSUES;
  const type = typeof value;
  switch (kind) {
    case 'numeric':
      return type === 'number' ? NO_ISSUES : issue(`${prefix}expected numeric (int or float), got ${goTypeOf(value)}`);
    case 'string':
      return type === 'string'
        ? NO_ISSUES
        : issue(`${prefix}expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`);
    case 'boolean':
      return type === 'boolean' ? NO_ISSUES : issue(`${prefix}expected boolean, got ${wrapped(value)}`);
    case 'untyped':
      return type !== 'object' ? NO_ISSUES : issue(`${prefix}expected any scalar, got ${wrapped(value)}`);
  }
}

function validateList(value: unknown, list: ListAtom, allowDuplicates: boolean): readonly SmdIssue[] {
  if (value === null || value === undefined) return NO_ISSUES;
  const items = asList(value);
  if (items === undefined) return issue(`expected list, got ${wrapped(value)}`);
  const issues: SmdIssue[] = [];
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    let element = indexElement(index);
    if (!list.atomic) {
      const name = listItemName(list, item);
      // Without a name nothing below can be named either.
      if ('problem' in name) return [...issues, ...issue(`element ${index}: ${name.problem}`)];
      element = name.element;
      if (seen.has(element) && !allowDuplicates) {
        issues.push(...issue(`duplicate entries for key ${printPathElement(element)}`));
      }
      seen.add(element);
    }
    const below = validate(item, list.element, allowDuplicates);
    if (below.length > 0) issues.push(...prefixed(element, below));
  }
  return issues;
}

function validateMap(value: unknown, map: MapAtom, allowDuplicates: boolean): readonly SmdIssue[] {
  if (value === null || value === undefined) return NO_ISSUES;
  const object = asMap(value);
  if (object === undefined) return issue(`expected map, got ${wrapped(value)}`);
  const issues: SmdIssue[] = [];
  for (const key of Object.keys(object)) {
    const type = map.field(key)?.type ?? map.element;
    if (type === undefined) return [...issues, ...prefixed(fieldElement(key), issue('field not declared in schema'))];
    const below = validate(object[key], type, allowDuplicates);
    if (below.length > 0) issues.push(...prefixed(fieldElement(key), below));
  }
  return issues;
}
