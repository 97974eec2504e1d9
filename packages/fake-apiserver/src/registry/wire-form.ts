// Brings an object into the form it has after a round through Go's types and storage: field order, zero values, sorted maps,
// canonical quantities and times. Two objects that mean the same then have the same bytes.
// Upstream: encoding/json over the structs of k8s.io/api v0.30.3; empty lists and maps do not survive protobuf storage.
import type { GoField } from '../schema/go-types.ts';
import { loadGoTypes } from '../schema/go-types.ts';
import type { DataProfile } from '../schema/profile-data.ts';
import type { Schema } from '../schema/schema.ts';
import { byCodePoint, type Draft, isDraft, put } from './draft.ts';
import { canonicalQuantity } from './quantity-form.ts';
import { canonicalMicroTime, canonicalTime } from './time-form.ts';

type Normalize = (value: unknown) => unknown;

const ABSENT = undefined;
const QUANTITY = 'io.k8s.apimachinery.pkg.api.resource.Quantity';
const TIME = 'io.k8s.apimachinery.pkg.apis.meta.v1.Time';
const MICRO_TIME = 'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime';
const INT_OR_STRING = 'io.k8s.apimachinery.pkg.util.intstr.IntOrString';

const SCALAR_ZERO: Readonly<Record<string, unknown>> = { string: '', integer: 0, number: 0, boolean: false };

interface FieldPlan {
  readonly name: string;
  readonly normalize: Normalize;
  /** What an absent field shows; undefined leaves it out. */
  readonly whenAbsent: () => unknown;
  readonly omitZero: boolean;
  readonly omitEmpty: boolean;
}

function isZero(value: unknown): boolean {
  return value === '' || value === 0 || value === false;
}

export interface WireFormOptions {
  /** Keeps empty lists that Go would print: the form before storage, where a list that is empty is not yet one that is missing. */
  readonly keepEmptyLists?: boolean | undefined;
}

/** Compiles schemas into normalizers, once per schema. */
export class WireForms {
  readonly #keepEmptyLists: boolean;
  readonly #goStruct: (name: string) => { readonly fields: readonly GoField[] } | undefined;
  /** By name where there is one: a reference with siblings is another Schema of the same type. */
  readonly #compiled = new Map<Schema | string, Normalize>();

  constructor(profile: DataProfile, options: WireFormOptions = {}) {
    this.#keepEmptyLists = options.keepEmptyLists ?? false;
    this.#goStruct = loadGoTypes(profile);
  }

  /** A new object in canonical form; unknown fields are gone. */
  apply<T extends object>(schema: Schema, object: T): T {
    return this.#for(schema)(object) as T;
  }

  #for(schema: Schema): Normalize {
    const key = schema.name ?? schema;
    const known = this.#compiled.get(key);
    if (known !== undefined) return known;
    // Recursive types meet themselves while being compiled.
    let compiled: Normalize | undefined;
    this.#compiled.set(key, (value) => compiled?.(value));
    compiled = this.#compile(schema);
    this.#compiled.set(key, compiled);
    return compiled;
  }

  #compile(schema: Schema): Normalize {
    if (schema.name === QUANTITY) return (value) => canonicalQuantity(value);
    if (schema.name === TIME) return canonicalTime;
    if (schema.name === MICRO_TIME) return canonicalMicroTime;
    if (schema.properties !== undefined && schema.properties.size > 0) return this.#struct(schema);
    if (schema.additionalProperties !== undefined && schema.additionalProperties !== true)
      return this.#map(schema.additionalProperties);
    if (schema.type === 'array' && schema.items !== undefined) return this.#array(schema.items);
    if (schema.format === 'byte')
      return (value) => (typeof value === 'string' ? value.replace(/[\r\n]/g, '') : (value ?? ABSENT));
    return (value) => value ?? ABSENT;
  }

  #array(items: Schema): Normalize {
    const item = this.#for(items);
    const zero = (): unknown => (items.type === 'object' ? item({}) : SCALAR_ZERO[items.type ?? '']);
    return (value) => {
      if (!Array.isArray(value) || (value.length === 0 && !this.#keepEmptyLists)) return ABSENT;
      return value.map((element) => (element === null ? zero() : item(element)));
    };
  }

  #map(values: Schema): Normalize {
    const normalize = this.#for(values);
    return (value) => {
      if (!isDraft(value)) return ABSENT;
      const keys = Object.keys(value);
      if (keys.length === 0) return ABSENT;
      const out: Draft = {};
      for (const key of keys.sort(byCodePoint)) {
        put(out, key, normalize(value[key]) ?? SCALAR_ZERO[values.type ?? ''] ?? null);
      }
      return out;
    };
  }

  #struct(schema: Schema): Normalize {
    const plans = this.#fields(schema);
    return (value) => {
      if (!isDraft(value)) return ABSENT;
      const out: Draft = {};
      for (const plan of plans) {
        const given = Object.hasOwn(value, plan.name) ? value[plan.name] : undefined;
        let made: unknown;
        if (given === undefined || given === null) made = plan.whenAbsent();
        else {
          made = plan.normalize(given);
          const empty = (plan.omitZero && isZero(made)) || (plan.omitEmpty && Array.isArray(made) && made.length === 0);
          if (made === ABSENT || empty) made = plan.whenAbsent();
        }
        if (made !== ABSENT) out[plan.name] = made;
      }
      return out;
    };
  }

  #fields(schema: Schema): readonly FieldPlan[] {
    const properties = schema.properties!;
    const struct = schema.name === undefined ? undefined : this.#goStruct(schema.name);
    if (struct === undefined) {
      return [...properties].map(([name, field]) => ({
        name,
        normalize: this.#for(field),
        whenAbsent: () => ABSENT,
        omitZero: false,
        omitEmpty: true,
      }));
    }
    return struct.fields.flatMap((go) => {
      const field = properties.get(go.name);
      return field === undefined ? [] : [this.#field(go, field)];
    });
  }

  #field(go: GoField, field: Schema): FieldPlan {
    const normalize = this.#for(field);
    const plan = (whenAbsent: () => unknown, omitZero = false): FieldPlan => ({
      name: go.name,
      normalize,
      whenAbsent,
      omitZero,
      // An empty list asks to start managedFields over; who sent it must still be seen.
      omitEmpty: go.omitEmpty && !(this.#keepEmptyLists && go.name === 'managedFields'),
    });
    const orNull = (): unknown => (go.omitEmpty ? ABSENT : null);
    if (go.pointer || field.type === 'array' || field.format === 'byte') return plan(orNull);
    if (field.name === TIME || field.name === MICRO_TIME) return plan(() => null);
    if (field.name === QUANTITY) return plan(() => '0');
    if (field.name === INT_OR_STRING || field.intOrString) return plan(() => 0);
    if (field.properties !== undefined && field.properties.size > 0) {
      return plan(() => (go.omitZero ? ABSENT : normalize({})));
    }
    const zero = SCALAR_ZERO[field.type ?? ''];
    if (zero !== undefined) return plan(() => (go.omitEmpty ? ABSENT : zero), true);
    return plan(orNull);
  }
}
