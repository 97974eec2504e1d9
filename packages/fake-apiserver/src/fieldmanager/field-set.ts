// A set of fields, as a tree: members of a node are owned, children lead to owned fields below. Sets are never changed after
// they are built; operations share what stays the same.
// Upstream: structured-merge-diff@v4.4.1:fieldpath/set.go#Set
import { comparePathElements, fieldNameOf, isKeyElement, type Path, type PathElement } from './path-element.ts';
import type { SmdType } from './smd-type.ts';

const NO_MEMBERS: ReadonlySet<PathElement> = new Set();
const NO_CHILDREN: ReadonlyMap<PathElement, FieldSet> = new Map();

export class FieldSet {
  static readonly empty: FieldSet = new FieldSet(NO_MEMBERS, NO_CHILDREN);

  readonly members: ReadonlySet<PathElement>;
  /** Never leads to a set without members below. */
  readonly children: ReadonlyMap<PathElement, FieldSet>;

  constructor(members: ReadonlySet<PathElement>, children: ReadonlyMap<PathElement, FieldSet>) {
    this.members = members;
    this.children = children;
  }

  static of(...paths: readonly Path[]): FieldSet {
    const builder = new FieldSetBuilder();
    for (const path of paths) builder.insert(path);
    return builder.build();
  }

  get isEmpty(): boolean {
    return this.members.size === 0 && this.children.size === 0;
  }

  has(path: Path): boolean {
    let set: FieldSet | undefined = this;
    for (const element of path.slice(0, -1)) {
      set = set.children.get(element);
      if (set === undefined) return false;
    }
    const last = path.at(-1);
    return last !== undefined && set.members.has(last);
  }

  /** What is owned below a step. */
  withPrefix(element: PathElement): FieldSet {
    return this.children.get(element) ?? FieldSet.empty;
  }

  union(other: FieldSet): FieldSet {
    if (this.isEmpty || this === other) return other;
    if (other.isEmpty) return this;
    let children: Map<PathElement, FieldSet> | undefined;
    for (const [element, set] of other.children) {
      const mine = this.children.get(element);
      const both = mine?.union(set) ?? set;
      if (both === mine) continue;
      children ??= new Map(this.children);
      children.set(element, both);
    }
    let members: Set<PathElement> | undefined;
    for (const element of other.members) {
      if (this.members.has(element)) continue;
      members ??= new Set(this.members);
      members.add(element);
    }
    if (members === undefined && children === undefined) return this;
    return new FieldSet(members ?? this.members, children ?? this.children);
  }

  intersection(other: FieldSet): FieldSet {
    if (this === other || this.isEmpty) return this;
    if (other.isEmpty) return other;
    const children = new Map<PathElement, FieldSet>();
    for (const [element, set] of this.children) {
      const counterpart = other.children.get(element);
      const both = counterpart === undefined ? FieldSet.empty : set.intersection(counterpart);
      if (!both.isEmpty) children.set(element, both);
    }
    return new FieldSet(
      filter(this.members, (element) => other.members.has(element)),
      children,
    );
  }

  /** A parent does not stand for its children, nor they for it. */
  difference(other: FieldSet): FieldSet {
    if (other.isEmpty) return this;
    let children: Map<PathElement, FieldSet> | undefined;
    for (const [element, theirs] of other.children) {
      const set = this.children.get(element);
      const rest = set?.difference(theirs);
      if (rest === undefined || rest === set) continue;
      children ??= new Map(this.children);
      if (rest.isEmpty) children.delete(element);
      else children.set(element, rest);
    }
    const members = filter(this.members, (element) => !other.members.has(element));
    if (members === this.members && children === undefined) return this;
    return new FieldSet(members, children ?? this.children);
  }

  /** As {@link difference}, but a member of the other set takes everything below it along. */
  recursiveDifference(other: FieldSet): FieldSet {
    if (other.isEmpty) return this;
    const children = new Map<PathElement, FieldSet>();
    for (const [element, set] of this.children) {
      if (other.members.has(element)) continue;
      const counterpart = other.children.get(element);
      const rest = counterpart === undefined ? set : set.recursiveDifference(counterpart);
      if (!rest.isEmpty) children.set(element, rest);
    }
    return new FieldSet(
      filter(this.members, (element) => !other.members.has(element)),
      children,
    );
  }

  /** With the declared fields on the way to members as members. */
  ensureNamedFieldsAreMembers(type: SmdType | undefined): FieldSet {
    const members = new Set(this.members);
    const children = new Map<PathElement, FieldSet>();
    const atom = type?.atom;
    for (const [element, set] of this.children) {
      const name = fieldNameOf(element);
      let below: SmdType | undefined;
      if (name !== undefined && atom?.map !== undefined) {
        const field = atom.map.field(name);
        if (field !== undefined) members.add(element);
        below = field?.type ?? atom.map.element;
      } else if (isKeyElement(element)) below = atom?.list?.element;
      children.set(element, set.ensureNamedFieldsAreMembers(below));
    }
    return new FieldSet(members, children);
  }

  /** Every member, parents before children, each level in order. */
  paths(): Path[] {
    const found: Path[] = [];
    this.#collect([], found);
    return found;
  }

  #collect(prefix: Path, found: Path[]): void {
    for (const element of sorted(this.members)) found.push([...prefix, element]);
    for (const element of sorted(this.children.keys()))
      this.children.get(element)!.#collect([...prefix, element], found);
  }

  equals(other: FieldSet): boolean {
    if (this === other) return true;
    if (this.members.size !== other.members.size || this.children.size !== other.children.size) return false;
    for (const element of this.members) if (!other.members.has(element)) return false;
    for (const [element, set] of this.children) if (other.children.get(element)?.equals(set) !== true) return false;
    return true;
  }
}

function filter<T>(values: ReadonlySet<T>, keep: (value: T) => boolean): ReadonlySet<T> {
  const kept = new Set<T>();
  for (const value of values) if (keep(value)) kept.add(value);
  return kept.size === values.size ? values : kept;
}

export function sorted(elements: Iterable<PathElement>): PathElement[] {
  return [...elements].sort(comparePathElements);
}

/** Collects paths; `build` ends it. */
export class FieldSetBuilder {
  readonly #members = new Set<PathElement>();
  readonly #children = new Map<PathElement, FieldSetBuilder>();

  /** The empty path stands for the whole object, which nobody owns. */
  insert(path: Path): void {
    let builder: FieldSetBuilder = this;
    for (const [index, element] of path.entries()) {
      if (index === path.length - 1) builder.#members.add(element);
      else builder = builder.#descend(element);
    }
  }

  #descend(element: PathElement): FieldSetBuilder {
    let child = this.#children.get(element);
    if (child === undefined) {
      child = new FieldSetBuilder();
      this.#children.set(element, child);
    }
    return child;
  }

  build(): FieldSet {
    if (this.#members.size === 0 && this.#children.size === 0) return FieldSet.empty;
    const children = new Map<PathElement, FieldSet>();
    for (const [element, builder] of this.#children) children.set(element, builder.build());
    return new FieldSet(this.#members, children);
  }
}
