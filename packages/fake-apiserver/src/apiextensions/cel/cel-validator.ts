// Runs the CEL rules of a schema against a value.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apiserver/schema/cel/validation.go#Validator
import {
  child,
  duplicate,
  errorText,
  type FieldError,
  type FieldPath,
  forbidden,
  index,
  invalid,
  key,
  required,
} from '../field-error.ts';
import { getField, isObject, type JsonObject } from '../schema/json.ts';
import type { Structural, ValidationRule } from '../schema/structural.ts';
import { type CorrelatedObject, findByKeys } from '../validation/correlated-object.ts';
import { type CompiledRule, compileRules } from './compile-rules.ts';
import { schemaDeclType, withTypeAndObjectMeta } from './decl-type.ts';
import { escapeName } from './escaping.ts';
import { CelCostExceeded } from './evaluator.ts';
import { evaluateMessage } from './message-expression.ts';
import { Ratcheting } from './ratcheting.ts';
import { RuleBindings } from './rule-bindings.ts';

const TOTAL_BUDGET = 10_000_000;
const OUT_OF_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run';

export interface CelOptions {
  /** The value before; rules on transitions run only when there is one. */
  readonly old?: unknown;
  /** Lets errors of unchanged parts be warnings. */
  readonly correlation?: CorrelatedObject | undefined;
  readonly warn?: ((text: string) => void) | undefined;
}

/** Shared by the walk over one value. */
interface Run {
  budget: number;
  readonly errors: FieldError[];
  readonly warn: (text: string) => void;
}

export class CelValidator {
  readonly #rules: readonly CompiledRule[];
  readonly #isResourceRoot: boolean;
  readonly #items: CelValidator | undefined;
  readonly #values: CelValidator | undefined;
  readonly #properties: ReadonlyMap<string, CelValidator>;

  /** Undefined for a schema without rules. */
  static of(schema: Structural, isResourceRoot: boolean): CelValidator | undefined {
    const validator = new CelValidator(schema, isResourceRoot);
    return validator.#empty ? undefined : validator;
  }

  private constructor(schema: Structural, isResourceRoot: boolean) {
    this.#isResourceRoot = isResourceRoot;
    this.#rules = compileRules(schema, isResourceRoot);
    const { items, additionalProperties: values } = schema;
    this.#items = items === undefined ? undefined : CelValidator.of(items, items.embeddedResource);
    this.#values =
      values === undefined || values === true ? undefined : CelValidator.of(values, values.embeddedResource);
    const properties = new Map<string, CelValidator>();
    for (const [name, property] of schema.properties ?? []) {
      // What CEL has no type for is not validated at all.
      if (escapeName(name) !== undefined && schemaDeclType(property, property.embeddedResource) === undefined) continue;
      const validator = CelValidator.of(property, property.embeddedResource);
      if (validator !== undefined) properties.set(name, validator);
    }
    this.#properties = properties;
  }

  get #empty(): boolean {
    return (
      this.#rules.length === 0 && this.#items === undefined && this.#values === undefined && this.#properties.size === 0
    );
  }

  /** All errors of a value; once the budget is spent nothing more is run. */
  validate(path: FieldPath, schema: Structural, value: unknown, options: CelOptions): FieldError[] {
    const run: Run = { budget: TOTAL_BUDGET, errors: [], warn: options.warn ?? (() => undefined) };
    this.#validate(path, schema, value, options.old, new Ratcheting(options.correlation), run);
    return run.errors;
  }

  #validate(path: FieldPath, schema: Structural, value: unknown, old: unknown, ratcheting: Ratcheting, run: Run): void {
    if (value === null || value === undefined || run.budget < 0) return;
    this.#runRules(path, schema, value, old, ratcheting, run);
    if (run.budget < 0) return;
    if (Array.isArray(value)) this.#array(path, schema, value, old, ratcheting, run);
    else if (isObject(value)) this.#object(path, schema, value, old, ratcheting, run);
  }

  #array(
    path: FieldPath,
    schema: Structural,
    value: readonly unknown[],
    old: unknown,
    ratcheting: Ratcheting,
    run: Run,
  ): void {
    const { items } = schema;
    if (this.#items === undefined || items === undefined) return;
    const before = schema.listType === 'map' && Array.isArray(old) ? old : [];
    for (const [position, item] of value.entries()) {
      const was = findByKeys(before, item, schema.listMapKeys);
      this.#items.#validate(index(path, position), items, item, was, ratcheting.index(position), run);
      if (run.budget < 0) return;
    }
  }

  #object(
    path: FieldPath,
    schema: Structural,
    value: JsonObject,
    old: unknown,
    ratcheting: Ratcheting,
    run: Run,
  ): void {
    const before = schema.mapType !== 'atomic' && isObject(old) ? old : {};
    const values = schema.additionalProperties;
    for (const [name, item] of Object.entries(value)) {
      const was = getField(before, name);
      const property = schema.properties?.get(name);
      const validator = this.#properties.get(name);
      if (this.#values !== undefined && values !== undefined && values !== true) {
        this.#values.#validate(key(path, name), values, item, was, ratcheting.key(name), run);
      } else if (validator !== undefined && property !== undefined) {
        validator.#validate(child(path, name), property, item, was, ratcheting.key(name), run);
      }
      if (run.budget < 0) return;
    }
  }

  #runRules(path: FieldPath, schema: Structural, value: unknown, old: unknown, ratcheting: Ratcheting, run: Run): void {
    if (this.#rules.length === 0) return;
    const type = schema.type ?? '';
    const node = this.#isResourceRoot ? withTypeAndObjectMeta(schema) : schema;
    const bindings = new RuleBindings(node, value, old);
    for (const [position, rule] of this.#rules.entries()) {
      const source = schema.validations[position]!;
      if (rule.error !== undefined) {
        run.errors.push(invalid(path, type, `rule compile error: ${rule.error}`));
        continue;
      }
      if (rule.program === undefined) continue;
      if (rule.usesOldSelf && !bindings.hasOld && source.optionalOldSelf !== true) continue;
      if (run.budget <= 0) {
        run.errors.push(invalid(path, type, OUT_OF_BUDGET));
        run.budget = -1;
        return;
      }
      this.#runRule(path, type, rule, source, bindings, ratcheting, run);
      if (run.budget < 0) return;
    }
  }

  #runRule(
    path: FieldPath,
    type: string,
    rule: CompiledRule,
    source: ValidationRule,
    bindings: RuleBindings,
    ratcheting: Ratcheting,
    run: Run,
  ): void {
    const { value, error, cost } = bindings.evaluate(rule.program!, source.optionalOldSelf === true);
    const failed = (detail: string): void => void run.errors.push(invalid(path, type, detail));
    const shown = source.message === '' ? source.rule.trim() : source.message.trim();
    if (cost > run.budget) {
      failed(OUT_OF_BUDGET);
      run.budget = -1;
      return;
    }
    run.budget -= cost;
    if (error instanceof CelCostExceeded) {
      failed(
        `'${error.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${shown}`,
      );
      run.budget = -1;
      return;
    }
    if (error !== undefined) {
      const overload = error.message.startsWith('no such overload');
      const hint = 'call arguments did not match a supported operator, function or macro signature for rule:';
      failed(overload ? `'${error.message}': ${hint} ${shown}` : `${error.message} evaluating rule: ${shown}`);
      return;
    }
    if (value === true) return;
    const at = rule.fieldPath === '' ? path : child(path, rule.fieldPath);
    const report = (found: FieldError): void => {
      if (!rule.usesOldSelf && ratcheting.forgives) run.warn(errorText(found));
      else run.errors.push(found);
    };
    const standard = source.message === '' ? `failed rule: ${source.rule.trim()}` : source.message.trim();
    if (rule.messageExpression === undefined) {
      report(errorOf(at, type, standard, source.reason));
      return;
    }
    const message = evaluateMessage(rule.messageExpression, source.messageExpression, bindings, run.budget);
    if ('fatal' in message) {
      report(invalid(at, type, message.fatal));
      run.budget = -1;
      return;
    }
    run.budget -= message.cost;
    report(errorOf(at, type, message.text ?? standard, source.reason));
  }
}

function errorOf(path: FieldPath, type: string, detail: string, reason: string | undefined): FieldError {
  switch (reason) {
    case 'FieldValueForbidden':
      return forbidden(path, detail);
    case 'FieldValueRequired':
      return required(path, detail);
    case 'FieldValueDuplicate':
      return duplicate(path, type);
    default:
      return invalid(path, type, detail);
  }
}
