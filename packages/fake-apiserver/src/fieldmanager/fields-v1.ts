// Field sets as `fieldsV1` of a managedFields entry.
// Upstream: structured-merge-diff@v4.4.1:fieldpath/serialize.go
import { FieldSet, sorted } from './field-set.ts';
import { type PathElement, parsePathElement } from './path-element.ts';

export type FieldsV1 = { readonly [element: string]: FieldsV1 };

// Sets and stored field objects are never changed, and most of an object's managers stay as they are from write to write.
const emitted = new WeakMap<FieldSet, FieldsV1>();
const parsed = new WeakMap<object, FieldSet>();

/** In upstream's order: `.` first, then fields, keyed items, set members. The same set gives the same object. */
export function toFieldsV1(set: FieldSet): FieldsV1 {
  let fields = emitted.get(set);
  if (fields === undefined) {
    fields = emit(set, false);
    emitted.set(set, fields);
    parsed.set(fields, set);
  }
  return fields;
}

function emit(set: FieldSet, includeSelf: boolean): FieldsV1 {
  // Element names start with a letter and a colon, so no key can reach the prototype.
  const out: Record<string, FieldsV1> = {};
  if (includeSelf) out['.'] = {};
  for (const element of sorted(new Set([...set.members, ...set.children.keys()]))) {
    const child = set.children.get(element);
    out[element] = child === undefined ? {} : emit(child, set.members.has(element));
  }
  return Object.freeze(out);
}

/**
 * @throws SyntaxError for keys or values that are no field set.
 */
export function fromFieldsV1(fields: unknown): FieldSet {
  const isKept = typeof fields === 'object' && fields !== null && Object.isFrozen(fields);
  const known = isKept ? parsed.get(fields) : undefined;
  if (known !== undefined) return known;
  const set = read(fields).set ?? FieldSet.empty;
  if (isKept) parsed.set(fields, set);
  return set;
}

/** A node without children is itself a member of its parent. */
function read(fields: unknown): { readonly set: FieldSet | undefined; readonly isMember: boolean } {
  if (fields === null) return { set: undefined, isMember: true };
  if (typeof fields !== 'object' || Array.isArray(fields)) throw new SyntaxError('expected an object in fieldsV1');
  const members = new Set<PathElement>();
  const children = new Map<PathElement, FieldSet>();
  let isMember = false;
  for (const [key, value] of Object.entries(fields as object)) {
    if (key === '.') {
      isMember = true;
      continue;
    }
    const element = parsePathElement(key);
    if (element === undefined) continue;
    const below = read(value);
    if (below.isMember) members.add(element);
    if (below.set !== undefined) children.set(element, below.set);
  }
  if (members.size === 0 && children.size === 0) return { set: undefined, isMember: true };
  return { set: new FieldSet(members, children), isMember };
}
