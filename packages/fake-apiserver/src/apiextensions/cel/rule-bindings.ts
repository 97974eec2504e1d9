// What the rules of a node see: `self` and `oldSelf`, converted once for all of them.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apiserver/schema/cel/validation.go#validationActivation
import type { Structural } from '../schema/structural.ts';
import type { Expr } from './ast.ts';
import { type Evaluation, evaluate } from './evaluator.ts';
import { toCelValue } from './schema-values.ts';
import { CelError, CelOptional, type CelValue } from './values.ts';

/** Cost at which one evaluation is cut off. */
const PER_CALL_LIMIT = 1_000_000;

export class RuleBindings {
  readonly #schema: Structural;
  readonly #value: unknown;
  readonly #old: unknown;
  #made: ReadonlyMap<string, CelValue> | undefined;
  readonly hasOld: boolean;

  constructor(schema: Structural, value: unknown, old: unknown) {
    this.#schema = schema;
    this.#value = value;
    this.#old = old;
    this.hasOld = old !== undefined && old !== null;
  }

  evaluate(program: Expr, optionalOld: boolean): Evaluation {
    try {
      return evaluate(program, this.#bindings(optionalOld), PER_CALL_LIMIT);
    } catch (error) {
      if (error instanceof CelError) return { error, cost: 0 };
      throw error;
    }
  }

  #bindings(optionalOld: boolean): ReadonlyMap<string, CelValue> {
    this.#made ??= new Map([
      ['self', toCelValue(this.#value, this.#schema)],
      ...(this.hasOld ? ([['oldSelf', toCelValue(this.#old, this.#schema)]] as const) : []),
    ]);
    if (!optionalOld) return this.#made;
    return new Map([...this.#made, ['oldSelf', new CelOptional(this.#made.get('oldSelf'))]]);
  }
}
