// CEL expressions of admission policies: compiled once, run against a request. Everything is of type dyn.
// Upstream: apiserver@v0.30.3:pkg/admission/plugin/cel/{compile,filter,composition}.go
// Differs: no authorizer variable; nothing is estimated, the run-time budget alone bounds an expression.
import type { Expr } from '../../apiextensions/cel/ast.ts';
import { check } from '../../apiextensions/cel/checker.ts';
import { evaluate } from '../../apiextensions/cel/evaluator.ts';
import { parse } from '../../apiextensions/cel/parser.ts';
import { CelIssues } from '../../apiextensions/cel/source.ts';
import { type CelType, DYN } from '../../apiextensions/cel/types.ts';
import { CelError, CelList, CelMap, type CelStruct, type CelValue } from '../../apiextensions/cel/values.ts';
import { isDraft } from '../../registry/draft.ts';

const COST_LIMIT = 10_000_000;
const NAMES = ['object', 'oldObject', 'request', 'namespaceObject', 'variables', 'authorizer'];

export type Compiled = { readonly expr: Expr } | { readonly problem: string };

/** `params` is known only to policies with a paramKind; without `wanted` any type will do. */
export function compileExpression(source: string, hasParams: boolean, wanted?: 'bool' | 'string'): Compiled {
  const variables = new Map<string, CelType>([...NAMES, ...(hasParams ? ['params'] : [])].map((name) => [name, DYN]));
  try {
    const expr = parse(source);
    check(source, expr, variables);
    const kind = expr.type?.kind ?? 'dyn';
    if (wanted !== undefined && kind !== 'dyn' && kind !== wanted) return { problem: `must evaluate to ${wanted}` };
    return { expr };
  } catch (error) {
    if (!(error instanceof CelIssues)) throw error;
    return { problem: `compilation failed: ${error.message}` };
  }
}

const MAX_COMPILED = 1000;

/** Expressions compiled so far. */
export class ExpressionCache {
  readonly #compiled = new Map<string, Compiled>();

  get(source: string, hasParams: boolean): Compiled {
    const key = `${hasParams} ${source}`;
    let compiled = this.#compiled.get(key);
    if (compiled === undefined) {
      if (this.#compiled.size >= MAX_COMPILED) this.#compiled.clear();
      compiled = compileExpression(source, hasParams);
      this.#compiled.set(key, compiled);
    }
    return compiled;
  }
}

/** JSON as CEL sees it without a schema. */
export function dynamicValue(value: unknown): CelValue {
  if (Array.isArray(value)) return new CelList(value.map(dynamicValue));
  if (isDraft(value)) return new CelMap(Object.entries(value).map(([key, item]) => [key, dynamicValue(item)] as const));
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  return typeof value === 'string' || typeof value === 'boolean' ? value : null;
}

export type Result = { readonly value: CelValue } | { readonly problem: string };

/** Named expressions of a policy; each is evaluated when it is first asked for. */
class LazyVariables implements CelStruct {
  readonly struct = true;
  readonly #expressions: ReadonlyMap<string, string>;
  readonly #run: (source: string) => CelValue;
  readonly #made = new Map<string, CelValue>();

  constructor(expressions: ReadonlyMap<string, string>, run: (source: string) => CelValue) {
    this.#expressions = expressions;
    this.#run = run;
  }

  get fieldNames(): readonly string[] {
    return [...this.#expressions.keys()];
  }

  field(name: string): CelValue | undefined {
    const made = this.#made.get(name);
    if (made !== undefined) return made;
    const source = this.#expressions.get(name);
    if (source === undefined) return undefined;
    const value = this.#run(source);
    this.#made.set(name, value);
    return value;
  }
}

/** One request as the expressions of one policy see it. */
export class ExpressionScope {
  readonly #bindings: Map<string, CelValue>;
  readonly #hasParams: boolean;
  readonly #cache: ExpressionCache;

  constructor(
    values: Readonly<Record<string, unknown>>,
    variables: ReadonlyMap<string, string>,
    hasParams: boolean,
    cache: ExpressionCache,
  ) {
    this.#cache = cache;
    this.#hasParams = hasParams;
    this.#bindings = new Map(Object.entries(values).map(([name, value]) => [name, dynamicValue(value)] as const));
    this.#bindings.set('variables', new LazyVariables(variables, (source) => this.#value(source)));
  }

  run(source: string): Result {
    try {
      return { value: this.#value(source) };
    } catch (error) {
      if (error instanceof CelError) return { problem: error.message };
      throw error;
    }
  }

  /** @throws CelError */
  #value(source: string): CelValue {
    const compiled = this.#cache.get(source, this.#hasParams);
    if ('problem' in compiled) throw new CelError(`compilation error: ${compiled.problem}`);
    const { value, error } = evaluate(compiled.expr, this.#bindings, COST_LIMIT);
    if (error !== undefined) throw new CelError(`expression '${source}' resulted in error: ${error.message}`);
    return value ?? null;
  }
}
