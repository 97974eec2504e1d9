// Checks a value against the value rules of a schema, with upstream's texts and order.
// Upstream: kube-openapi:pkg/validation/validate/schema.go, apiextensions-apiserver@v0.30.3:pkg/apiserver/validation
// Differs: fields are checked in the order of the schema, where Go's map order is random.

import { goQuote } from '@kube-rx/apimachinery';
import { type FieldError, type FieldPath, required, tooMany } from '../field-error.ts';

import { getField, isObject, type JsonObject, jsonEqual, objectEntries } from '../schema/json.ts';
import type { Structural } from '../schema/structural.ts';
import {
  at,
  checkEnum,
  checkNumber,
  checkString,
  checkType,
  composite,
  expectedTypes,
  plain,
  Result,
  wrongType,
} from './checks.ts';
import type { CorrelatedObject } from './correlated-object.ts';
import { formatCheck } from './formats.ts';

function checkJunctors(
  value: unknown,
  schema: Structural,
  name: string,
  correlation: CorrelatedObject | undefined,
  result: Result,
): void {
  const shown = goQuote(name);
  if (schema.anyOf.length > 0) {
    let best: Result | undefined;
    let success: Result | undefined;
    for (const option of schema.anyOf) {
      const outcome = validateNode(value, option, name, correlation);
      if (outcome.valid) {
        success = outcome;
        break;
      }
      if (best === undefined || outcome.matchCount > best.matchCount) best = outcome;
    }
    if (success === undefined) {
      result.add(composite(`${shown} must validate at least one schema (anyOf)`));
      if (best !== undefined) result.merge(best);
    } else result.merge(success);
  }
  if (schema.oneOf.length > 0) {
    let best: Result | undefined;
    let success: Result | undefined;
    let count = 0;
    for (const option of schema.oneOf) {
      const outcome = validateNode(value, option, name, correlation);
      if (outcome.valid) {
        count += 1;
        best = undefined;
        success ??= outcome;
      } else if (count === 0 && (best === undefined || outcome.matchCount > best.matchCount)) best = outcome;
    }
    if (count === 1) result.merge(success!);
    else {
      const found = count === 0 ? 'Found none valid' : `Found ${count} valid alternatives`;
      result.add(composite(`${shown} must validate one and only one schema (oneOf). ${found}`));
      if (best !== undefined) result.merge(best);
    }
  }
  if (schema.allOf.length > 0) {
    let count = 0;
    for (const option of schema.allOf) {
      const outcome = validateNode(value, option, name, correlation);
      if (outcome.valid) count += 1;
      result.merge(outcome);
    }
    if (count !== schema.allOf.length) {
      result.add(composite(`${shown} must validate all the schemas (allOf)${count === 0 ? '. None validated' : ''}`));
    }
  }
  if (schema.not !== undefined && validateNode(value, schema.not, name, correlation).valid) {
    result.add(composite(`${shown} must not validate the schema (not)`));
  }
  result.matchCount += 1;
}

function checkArray(
  value: readonly unknown[],
  schema: Structural,
  name: string,
  correlation: CorrelatedObject | undefined,
  result: Result,
): void {
  const { items } = schema;
  if (items !== undefined) {
    for (const [position, item] of value.entries()) {
      result.merge(validateRatcheting(item, items, `${name}[${position}]`, correlation?.index(position)));
    }
  }
  if (schema.minItems !== undefined && value.length < schema.minItems) {
    result.add(plain(name, `${name} in body should have at least ${schema.minItems} items`, value.length));
  }
  if (schema.maxItems !== undefined && value.length > schema.maxItems) {
    const maximum = schema.maxItems;
    result.add({
      text: `${name} in body should have at most ${maximum} items`,
      toFieldError: (root) => tooMany(at(root, name), value.length, maximum),
    });
  }
  if (
    schema.uniqueItems &&
    value.some((item, position) => value.slice(0, position).some((other) => jsonEqual(item, other)))
  ) {
    result.add(plain(name, `${name} in body shouldn't contain duplicates`));
  }
  result.matchCount += 1;
}

function checkObject(
  value: JsonObject,
  schema: Structural,
  name: string,
  correlation: CorrelatedObject | undefined,
  result: Result,
): void {
  const size = Object.keys(value).length;
  if (schema.minProperties !== undefined && size < schema.minProperties) {
    result.add(plain(name, `${name} in body should have at least ${schema.minProperties} properties`, size));
  }
  if (schema.maxProperties !== undefined && size > schema.maxProperties) {
    const maximum = schema.maxProperties;
    result.add({
      text: `${name} in body should have at most ${maximum} properties`,
      toFieldError: (root) => tooMany(at(root, name), size, maximum),
    });
  }
  const below = (field: string): CorrelatedObject | undefined =>
    name === '' && (field === 'kind' || field === 'apiVersion') ? undefined : correlation?.key(field);
  const values = schema.additionalProperties;
  for (const [field, item] of objectEntries(value)) {
    if (schema.properties?.has(field)) continue;
    if (schema.forbidsAdditionalProperties) {
      result.add(plain(name, `${name}.${field} in body is a forbidden property`, field));
    } else if (values !== undefined && values !== true) {
      result.merge(validateRatcheting(item, values, `${name}.${field}`, below(field)));
    }
  }
  for (const [field, property] of schema.properties ?? []) {
    if (!Object.hasOwn(value, field)) continue;
    const path = name === '' ? field : `${name}.${field}`;
    result.merge(validateRatcheting(getField(value, field), property, path, below(field)));
  }
  for (const field of schema.required) {
    if (Object.hasOwn(value, field)) continue;
    const path = `${name}.${field}`;
    result.add({ text: `${path} in body is required`, toFieldError: (root) => required(at(root, path), '') });
  }
}

function validateNode(
  value: unknown,
  schema: Structural,
  name: string,
  correlation: CorrelatedObject | undefined,
): Result {
  const result = new Result();
  const step = (run: (result: Result) => void): void => {
    const part = new Result();
    run(part);
    result.merge(part);
    result.matchCount += 1;
  };
  if (value === null || value === undefined) {
    const types = expectedTypes(schema);
    if (types.length > 0 && !schema.nullable) result.add(wrongType(name, types.join(','), 'null'));
    const failure = checkEnum(null, schema, name);
    if (failure !== undefined) result.add(failure);
    return result;
  }
  if (expectedTypes(schema).length > 0 || (schema.format !== undefined && formatCheck(schema.format) !== undefined)) {
    step((part) => {
      checkType(value, schema, name, part);
      if (part.valid) part.matchCount += 1;
    });
  }
  step((part) => checkJunctors(value, schema, name, correlation, part));
  if (typeof value === 'string') {
    step((part) => {
      const failure = checkString(value, schema, name);
      if (failure !== undefined) part.add(failure);
    });
    const check = schema.format === undefined ? undefined : formatCheck(schema.format);
    if (check !== undefined) {
      step((part) => {
        if (!check(value)) part.add(wrongType(name, schema.format!, value));
      });
    }
  }
  if (typeof value === 'number') {
    step((part) => {
      checkNumber(value, schema, name, part);
      part.matchCount += 1;
    });
  }
  if (Array.isArray(value)) step((part) => checkArray(value, schema, name, correlation, part));
  step((part) => {
    const failure = checkEnum(value, schema, name);
    if (failure !== undefined) part.add(failure);
  });
  if (isObject(value)) step((part) => checkObject(value, schema, name, correlation, part));
  result.matchCount += 1;
  return result;
}

function validateRatcheting(
  value: unknown,
  schema: Structural,
  name: string,
  correlation: CorrelatedObject | undefined,
): Result {
  const result = validateNode(value, schema, name, correlation);
  if (result.valid || correlation === undefined || !correlation.equal) return result;
  const forgiven = new Result();
  forgiven.matchCount = result.matchCount;
  return forgiven;
}

export interface ValueValidationOptions {
  /** The path of the value; undefined for a whole resource. */
  readonly path?: FieldPath;
  /** Errors of parts that did not change are forgiven. */
  readonly correlation?: CorrelatedObject | undefined;
}

/** All failures of a value, in upstream's order of checks. */
export function validateValue(
  value: unknown,
  schema: Structural,
  options: ValueValidationOptions = {},
): readonly FieldError[] {
  const result = validateRatcheting(value, schema, '', options.correlation);
  return result.failures.map((failure) => failure.toFieldError(options.path));
}
