// The cost budget of a whole schema, and the check of one node's CEL rules against it.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apis/apiextensions/validation/cel_validation.go

import { goQuote } from '@kube-rx/apimachinery';
import { compileRules } from '../cel/compile-rules.ts';
import { schemaDeclType } from '../cel/decl-type.ts';
import { child, type FieldError, forbidden, index, internalError, invalid, RawValue } from '../field-error.ts';
import type { Structural, ValidationRule } from '../schema/structural.ts';
import type { SchemaRules } from './schema-rules.ts';

const EXPRESSION_COST_LIMIT = 10_000_000;
const SCHEMA_COST_LIMIT = 100_000_000;
const MOST_EXPENSIVE = 4;
/** Where upstream's unsigned 64 bit numbers end. */
const MAX_COST = 2 ** 64 - 1;

const multiply = (a: number, b: number): number => (a === 0 ? 0 : Math.min(a * b, MAX_COST));

class TotalCost {
  total = 0;
  readonly expensive: { readonly path: string; readonly cost: number }[] = [];

  observe(path: string, cost: number): void {
    this.total = Math.min(this.total + cost, MAX_COST);
    if (cost < SCHEMA_COST_LIMIT / 100) return;
    this.expensive.push({ path, cost });
    this.expensive.sort((a, b) => b.cost - a.cost);
    this.expensive.splice(MOST_EXPENSIVE);
  }
}

/** How often a node may occur in one object, and the costs found so far. */
export class CelContext {
  readonly #node: Structural;
  readonly #total: TotalCost;
  /** Undefined when a list or map above has no bound. */
  readonly maxCardinality: number | undefined;
  readonly isRoot: boolean;

  private constructor(node: Structural, total: TotalCost, maxCardinality: number | undefined, isRoot: boolean) {
    this.#node = node;
    this.#total = total;
    this.maxCardinality = maxCardinality;
    this.isRoot = isRoot;
  }

  static root(schema: Structural): CelContext {
    return new CelContext(schema, new TotalCost(), 1, true);
  }

  child(node: Structural): CelContext {
    const factor = maxElements(this.#node);
    const cardinality =
      this.maxCardinality === undefined || factor === undefined ? undefined : multiply(this.maxCardinality, factor);
    return new CelContext(node, this.#total, cardinality, false);
  }

  observe(path: string, cost: number): void {
    this.#total.observe(path, cost);
  }

  /** The errors of a schema whose rules cost too much together. */
  totalErrors(path: string): FieldError[] {
    if (this.#total.total <= SCHEMA_COST_LIMIT) return [];
    const detail = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
    const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
    return [
      ...this.#total.expensive.map((rule) => forbidden(rule.path, detail)),
      forbidden(path, costText(what, this.#total.total, SCHEMA_COST_LIMIT)),
    ];
  }
}

function maxElements(node: Structural): number | undefined {
  if (node.type === 'object' && (node.additionalProperties !== undefined || node.forbidsAdditionalProperties)) {
    return node.maxProperties === undefined ? undefined : Math.max(0, node.maxProperties);
  }
  if (node.type === 'array') return node.maxItems === undefined ? undefined : Math.max(0, node.maxItems);
  return 1;
}

function costText(what: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const shown = factor > 100 ? 'more than 100x' : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  return `${what} exceeds budget by factor of ${shown} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}

/** A rule as Go prints the struct; pointers show an address nobody can predict. */
function goRule(rule: ValidationRule): RawValue {
  const pointer = (type: string, set: boolean): string => `(*${type})(${set ? '0xc000000000' : 'nil'})`;
  return new RawValue(
    `apiextensions.ValidationRule{Rule:${goQuote(rule.rule)}, Message:${goQuote(rule.message)}, MessageExpression:${goQuote(rule.messageExpression)}, Reason:${pointer('apiextensions.FieldValueErrorReason', rule.reason !== undefined)}, FieldPath:${goQuote(rule.fieldPath)}, OptionalOldSelf:${pointer('bool', rule.optionalOldSelf !== undefined)}}`,
  );
}

/** Compile and cost errors of the rules of one node. */
export function validateCelRules(
  schema: Structural,
  path: string,
  context: CelContext,
  rules: SchemaRules,
): FieldError[] {
  const errors: FieldError[] = [];
  const isResourceRoot = context.isRoot || schema.embeddedResource;
  if (schemaDeclType(schema, isResourceRoot) === undefined) {
    const detail =
      'internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations';
    return [internalError(child(path, 'x-kubernetes-validations'), detail)];
  }
  for (const [position, result] of compileRules(schema, isResourceRoot).entries()) {
    const rule = schema.validations[position]!;
    const at = index(child(path, 'x-kubernetes-validations'), position);
    const rulePath = child(at, 'rule');
    const cost = multiply(result.maxCost, context.maxCardinality ?? result.maxCardinality);
    const limited = !rules.suppressPerExpressionCost;
    if (limited && cost > EXPRESSION_COST_LIMIT)
      errors.push(forbidden(rulePath, costText('estimated rule cost', cost, EXPRESSION_COST_LIMIT)));
    context.observe(rulePath, cost);
    if (result.error !== undefined) errors.push(invalid(rulePath, goRule(rule), result.error));
    const messagePath = child(at, 'messageExpression');
    if (result.messageExpressionError !== undefined)
      errors.push(invalid(messagePath, goRule(rule), result.messageExpressionError));
    else if (result.messageExpression !== undefined) {
      const messageCost = result.messageExpressionMaxCost;
      if (limited && messageCost > EXPRESSION_COST_LIMIT) {
        errors.push(
          forbidden(messagePath, costText('estimated messageExpression cost', messageCost, EXPRESSION_COST_LIMIT)),
        );
      }
      context.observe(messagePath, messageCost);
    }
    if (result.usesOldSelf) {
      if (rules.uncorrelatablePath !== undefined) {
        const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${rules.uncorrelatablePath}`;
        errors.push(invalid(rulePath, rule.rule, detail));
      }
    } else if (rule.optionalOldSelf !== undefined) {
      errors.push(
        invalid(child(at, 'optionalOldSelf'), rule.optionalOldSelf, 'may not be set if oldSelf is not used in rule'),
      );
    }
  }
  return errors;
}
