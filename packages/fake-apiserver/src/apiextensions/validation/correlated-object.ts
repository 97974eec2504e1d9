// Pairs every part of a new object with what it was before, so that errors of unchanged parts can be forgiven (ratcheting).
// Upstream: apiserver@v0.30.3:pkg/cel/common/equality.go#CorrelatedObject
import { isObject, jsonEqual } from '../schema/json.ts';
import { type Structural, schemaOfField } from '../schema/structural.ts';

export class CorrelatedObject {
  readonly value: unknown;
  readonly old: unknown;
  readonly schema: Structural;
  readonly #children = new Map<string | number, CorrelatedObject | undefined>();
  #equal: boolean | undefined;

  constructor(value: unknown, old: unknown, schema: Structural) {
    this.value = value;
    this.old = old;
    this.schema = schema;
  }

  /** The child at a field; undefined when the field is new, gone or without a schema. */
  key(field: string): CorrelatedObject | undefined {
    if (this.#children.has(field)) return this.#children.get(field);
    const { value, old } = this;
    const below = schemaOfField(this.schema, field);
    let child: CorrelatedObject | undefined;
    if (
      below !== undefined &&
      isObject(value) &&
      isObject(old) &&
      Object.hasOwn(value, field) &&
      Object.hasOwn(old, field)
    ) {
      child = new CorrelatedObject(value[field], old[field], below);
    }
    this.#children.set(field, child);
    return child;
  }

  /** The child at a list position. Only lists of type map know their elements again. */
  index(position: number): CorrelatedObject | undefined {
    if (this.#children.has(position)) return this.#children.get(position);
    let child: CorrelatedObject | undefined;
    const { value, old, schema } = this;
    if (schema.listType === 'map' && schema.items !== undefined && Array.isArray(value) && Array.isArray(old)) {
      const element = value[position];
      const match = findByKeys(old, element, schema.listMapKeys);
      if (match !== undefined && match !== null) child = new CorrelatedObject(element, match, schema.items);
    }
    this.#children.set(position, child);
    return child;
  }

  /** True when nothing below changed. A field without a schema counts as changed, as upstream. */
  get equal(): boolean {
    this.#equal ??= this.#compare();
    return this.#equal;
  }

  #compare(): boolean {
    const { value, old } = this;
    if (value === null && old === null) return true;
    if (value === null || value === undefined || old === null || old === undefined) return false;
    if (Array.isArray(value) !== Array.isArray(old) || isObject(value) !== isObject(old)) return false;
    if (Array.isArray(value) && Array.isArray(old)) {
      if (value.length !== old.length) return false;
      if (this.schema.listType !== 'map') return jsonEqual(value, old);
      return value.every((_, position) => this.index(position)?.equal ?? false);
    }
    if (isObject(value) && isObject(old)) {
      const names = Object.keys(value);
      return names.length === Object.keys(old).length && names.every((name) => this.key(name)?.equal ?? false);
    }
    return value === old;
  }
}

/** The element of a map list with the same key fields; undefined when there is none. */
export function findByKeys(list: readonly unknown[], element: unknown, keys: readonly string[]): unknown {
  if (!isObject(element)) return undefined;
  return list.find(
    (candidate) => isObject(candidate) && keys.every((name) => jsonEqual(candidate[name], element[name])),
  );
}
