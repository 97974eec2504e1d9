// Fills in what decoding fills in: each type's defaults, from the outside to the inside, wherever the type occurs.
// Upstream: kubernetes@v1.30.3:pkg/apis/core/v1/zz_generated.defaults.go

import type { Schema } from '../../schema/schema.ts';
import { type Draft, get, isDraft } from '../draft.ts';

/** Sets the absent fields of one struct; must be idempotent. */
export type TypeDefault = (value: Draft) => void;

type Apply = (value: unknown) => void;

/** A reference with siblings is another Schema of the same type, so named types go by their name. */
const keyOf = (schema: Schema): Schema | string => schema.name ?? schema;

/** Compiles schemas into defaulting functions, once per schema; types without defaults below them cost nothing. */
export class Defaulter {
  readonly #defaults: ReadonlyMap<string, TypeDefault>;
  readonly #compiled = new Map<Schema | string, Apply | undefined>();
  readonly #needed = new Map<Schema | string, boolean>();

  /** @param defaults by schema name, like `io.k8s.api.core.v1.Probe` */
  constructor(defaults: ReadonlyMap<string, TypeDefault>) {
    this.#defaults = defaults;
  }

  /** Changes the object in place. */
  apply(schema: Schema, object: Draft): void {
    this.#for(schema)?.(object);
  }

  /** Whether a type or one below it has defaults. */
  #needs(schema: Schema, above: ReadonlySet<Schema | string>): boolean {
    const key = keyOf(schema);
    const known = this.#needed.get(key);
    if (known !== undefined) return known;
    if (above.has(key)) return false;
    const path = new Set(above).add(key);
    const below = [...(schema.properties?.values() ?? []), schema.items, schema.additionalProperties];
    const needed =
      (schema.name !== undefined && this.#defaults.has(schema.name)) ||
      below.some((part) => part !== undefined && part !== true && this.#needs(part, path));
    // Inside a cycle a negative answer may be premature; only the outermost one is final.
    if (needed || above.size === 0) this.#needed.set(key, needed);
    return needed;
  }

  #for(schema: Schema): Apply | undefined {
    const key = keyOf(schema);
    if (this.#compiled.has(key)) return this.#compiled.get(key);
    if (!this.#needs(schema, new Set())) {
      this.#compiled.set(key, undefined);
      return undefined;
    }
    let compiled: Apply | undefined;
    this.#compiled.set(key, (value) => compiled?.(value));
    compiled = this.#compile(schema);
    this.#compiled.set(key, compiled);
    return compiled;
  }

  #compile(schema: Schema): Apply {
    const own = schema.name === undefined ? undefined : this.#defaults.get(schema.name);
    const fields: [string, Apply][] = [];
    for (const [name, field] of schema.properties ?? []) {
      const apply = this.#for(field);
      if (apply !== undefined) fields.push([name, apply]);
    }
    const items = schema.items === undefined ? undefined : this.#for(schema.items);
    const { additionalProperties: values } = schema;
    const value = values === undefined || values === true ? undefined : this.#for(values);
    return (subject) => {
      if (Array.isArray(subject)) {
        if (items !== undefined) for (const element of subject) items(element);
        return;
      }
      if (!isDraft(subject)) return;
      own?.(subject);
      for (const [name, apply] of fields) apply(get(subject, name));
      if (value !== undefined) for (const key of Object.keys(subject)) value(get(subject, key));
    };
  }
}
