// Runs the expressions of a policy, one set after the other, within a budget.
// Upstream: apiserver@v0.30.3:pkg/admission/plugin/cel/{filter,composition}.go
import { evaluate } from '../../apiextensions/cel/evaluator.ts';
import { CelError, type CelStruct, type CelValue } from '../../apiextensions/cel/values.ts';
import type { Compiled } from './expressions.ts';
import type { Part } from './program.ts';

/** Cost at which one evaluation is cut off. */
const PER_CALL_LIMIT = 1_000_000;

export const OUT_OF_BUDGET =
  'validation failed due to running out of cost budget, no further validation rules will be run';

export type Outcome = { readonly value: CelValue } | { readonly problem: string };

/** `undefined` stands where there was nothing to run. Running out of budget ends the whole set. */
export type SetOutcome =
  | { readonly outcomes: readonly (Outcome | undefined)[]; readonly budget: number }
  | { readonly fatal: string };

/** Named expressions of a policy; each is evaluated when it is first asked for. */
class LazyVariables implements CelStruct {
  readonly struct = true;
  readonly #expressions: ReadonlyMap<string, Compiled>;
  readonly #made = new Map<string, CelValue | CelError>();
  readonly #bindings: ReadonlyMap<string, CelValue>;
  #cost = 0;

  constructor(expressions: ReadonlyMap<string, Compiled>, bindings: ReadonlyMap<string, CelValue>) {
    this.#expressions = expressions;
    this.#bindings = new Map([...bindings, ['variables', this]]);
  }

  /** What variables cost since the last time somebody asked. */
  takeCost(): number {
    const cost = this.#cost;
    this.#cost = 0;
    return cost;
  }

  get fieldNames(): readonly string[] {
    return [...this.#expressions.keys()];
  }

  field(name: string): CelValue | undefined {
    const compiled = this.#expressions.get(name);
    if (compiled === undefined) return undefined;
    let made = this.#made.get(name);
    if (made === undefined) {
      made = this.#evaluate(name, compiled);
      this.#made.set(name, made);
    }
    if (made instanceof CelError) throw made;
    return made;
  }

  #evaluate(name: string, compiled: Compiled): CelValue | CelError {
    if ('problem' in compiled)
      return new CelError(`composited variable "${name}" fails to compile: ${compiled.problem}`);
    const { value, error, cost } = evaluate(compiled.run, this.#bindings, PER_CALL_LIMIT);
    this.#cost += cost;
    return error === undefined
      ? (value ?? null)
      : new CelError(`composited variable "${name}" fails to evaluate: ${error.message}`);
  }
}

/** Variables are worked out anew for every set. */
export function runSet(
  parts: readonly (Part | undefined)[],
  variables: ReadonlyMap<string, Compiled>,
  bindings: ReadonlyMap<string, CelValue>,
  budget: number,
): SetOutcome {
  const lazy = new LazyVariables(variables, bindings);
  const known = new Map([...bindings, ['variables', lazy] as const]);
  let left = budget;
  const outcomes: (Outcome | undefined)[] = [];
  for (const part of parts) {
    if (part === undefined) {
      outcomes.push(undefined);
      continue;
    }
    const { source, compiled } = part;
    if ('problem' in compiled) {
      outcomes.push({ problem: `compilation error: ${compiled.problem}` });
      continue;
    }
    const { value, error, cost } = evaluate(compiled.run, known, PER_CALL_LIMIT);
    left -= cost + lazy.takeCost();
    if (left < 0) return { fatal: OUT_OF_BUDGET };
    outcomes.push(
      error === undefined
        ? { value: value ?? null }
        : { problem: `expression '${source}' resulted in error: ${error.message}` },
    );
  }
  return { outcomes, budget: left };
}
