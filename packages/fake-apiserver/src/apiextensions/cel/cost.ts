// Worst-case cost of an expression, from its types and the bounds of its schema.
// Upstream: github.com/google/cel-go@v0.17.8:checker/cost.go#coster
import type { CallExpr, ComprehensionExpr, Expr, SelectExpr } from './ast.ts';
import { libraryCallCost } from './call-costs.ts';
import { type Estimate, fixed, MAX_UINT64, plus, scale, times, UNKNOWN, union, ZERO } from './cost-estimate.ts';
import type { CallEstimate, CostNode } from './cost-node.ts';
import { ACCUMULATOR } from './macros.ts';
import { REGEX_LENGTH, STRING_TRAVERSAL } from './runtime-cost.ts';
import type { CelType, DeclType } from './types.ts';

const SELECT_COST = fixed(1);
const LIST_COST = fixed(10);
const MAP_COST = fixed(30);
const STRUCT_COST = fixed(40);
const LENGTH_OVERLOADS = /^(?:less|greater)(?:_equals)?_(?:string|bytes)$/;

/** Cost of a checked expression over `root`, the declaration of `self` and `oldSelf`. */
export function estimateCost(expr: Expr, root: DeclType): Estimate {
  return new Coster(root).cost(expr);
}

export class Coster {
  readonly #root: DeclType;
  readonly #paths = new Map<Expr, readonly string[]>();
  readonly #sizes = new Map<Expr, Estimate>();
  readonly #iterations = new Map<string, readonly string[] | undefined>();

  constructor(root: DeclType) {
    this.#root = root;
  }

  cost(expr: Expr): Estimate {
    switch (expr.kind) {
      case 'constant':
      case 'folded':
        return ZERO;
      case 'ident': {
        const path = this.#iterations.has(expr.name) ? this.#iterations.get(expr.name) : [expr.name];
        if (path !== undefined) this.#paths.set(expr, path);
        return SELECT_COST;
      }
      case 'select':
        return this.#select(expr);
      case 'call':
        return this.#call(expr);
      case 'list':
        return plus(...expr.elements.map((element) => this.cost(element)), LIST_COST);
      case 'map':
        return plus(...expr.entries.flatMap((entry) => [this.cost(entry.key), this.cost(entry.value)]), MAP_COST);
      case 'struct':
        return STRUCT_COST;
      case 'comprehension':
        return this.#comprehension(expr);
    }
  }

  #select(expr: SelectExpr): Estimate {
    const operand = this.cost(expr.operand);
    // A test for presence costs nothing, as the gate of this version has it.
    if (expr.testOnly) return operand;
    this.#paths.set(expr, [...(this.#paths.get(expr.operand) ?? []), expr.field]);
    const kind = expr.operand.type?.kind;
    return kind === 'map' || kind === 'object' || kind === 'param' ? plus(operand, SELECT_COST) : operand;
  }

  node(expr: Expr): CostNode {
    const path = this.#paths.get(expr);
    const own = path !== undefined && path[0] !== ACCUMULATOR ? path : undefined;
    return { expr, type: expr.type, path: own, size: this.#computed(expr) };
  }

  /** The size of a node: what is known of it, or what the schema says, or what its type does. */
  sizeOf(node: CostNode): Estimate {
    return node.size ?? this.declared(node.path) ?? (isScalar(node.type) ? fixed(1) : UNKNOWN);
  }

  #size(expr: Expr): Estimate {
    return this.sizeOf(this.node(expr));
  }

  /** Sizes that the expression itself tells. */
  #computed(expr: Expr): Estimate | undefined {
    const known = this.#sizes.get(expr);
    if (known !== undefined) return known;
    if (expr.kind === 'list') return fixed(expr.elements.length);
    if (expr.kind === 'map') return fixed(expr.entries.length);
    if (expr.kind === 'constant') {
      const { constant } = expr;
      if (constant.type === 'string') return fixed([...constant.value].length);
      return fixed(constant.type === 'bytes' ? constant.value.length : 1);
    }
    return undefined;
  }

  /** The most elements the schema allows at a path. */
  declared(path: readonly string[] | undefined): Estimate | undefined {
    if (path === undefined || path.length === 0) return undefined;
    let node: DeclType | undefined = this.#root;
    for (const step of path.slice(1)) {
      if (step === '@items' || step === '@values') node = node.element;
      else if (step === '@keys') node = node.key;
      else node = node.fields?.get(step);
      if (node === undefined) return undefined;
    }
    return { min: 0, max: node.maxElements };
  }

  #call(expr: CallExpr): Estimate {
    const argCosts = expr.args.map((arg) => this.cost(arg));
    const overloads = expr.overloads ?? [];
    if (overloads.length === 0) return ZERO;
    const targetCost = expr.target === undefined ? ZERO : this.cost(expr.target);
    let cost: Estimate = { min: MAX_UINT64, max: 0 };
    let size: Estimate | undefined;
    for (const overload of overloads) {
      const estimate = this.#overload(expr, overload, argCosts);
      cost = union(cost, estimate.cost);
      if (estimate.resultSize !== undefined)
        size = size === undefined ? estimate.resultSize : union(size, estimate.resultSize);
      const container = expr.args[0];
      const path = (container === undefined ? undefined : this.#paths.get(container)) ?? [];
      if (overload === 'index_list') this.#paths.set(expr, [...path, '@items']);
      if (overload === 'index_map') this.#paths.set(expr, [...path, '@values']);
    }
    if (size !== undefined) this.#sizes.set(expr, size);
    return plus(targetCost, cost);
  }

  #overload(expr: CallExpr, overload: string, argCosts: readonly Estimate[]): CallEstimate {
    const all = plus(...argCosts);
    const target = expr.target === undefined ? undefined : this.node(expr.target);
    const args = expr.args.map((arg) => this.node(arg));
    const library = libraryCallCost(this, expr.name, target, args);
    if (library !== undefined) return { ...library, cost: plus(library.cost, all) };
    const size = (at: number): Estimate => this.sizeOf(args[at]!);
    switch (overload) {
      case 'string_to_bytes': {
        const of = size(0);
        return { cost: plus(scale(of, STRING_TRAVERSAL), all), resultSize: { min: of.min, max: of.max * 4 } };
      }
      case 'bytes_to_string': {
        const of = size(0);
        return {
          cost: plus(scale(of, STRING_TRAVERSAL), all),
          resultSize: { min: Math.floor(of.min / 4), max: of.max },
        };
      }
      case 'strings_quote': {
        const of = size(0);
        const resultSize = { min: of.min + 2, max: of.max * 2 + 2 };
        return { cost: plus(scale(of, STRING_TRAVERSAL), all), resultSize };
      }
      case 'starts_with_string':
      case 'ends_with_string':
        return { cost: plus(scale(size(0), STRING_TRAVERSAL), all) };
      case 'in_list':
        return { cost: plus(size(1), all) };
      case 'string_format':
        return { cost: plus(scale(target === undefined ? UNKNOWN : this.sizeOf(target), STRING_TRAVERSAL), all) };
      case 'matches_string':
      case 'matches': {
        const text = overload === 'matches' ? size(0) : this.sizeOf(target!);
        const pattern = overload === 'matches' ? size(1) : size(0);
        if (overload === 'matches') return { cost: plus(fixed(1), all) };
        const cost = times(scale(plus(text, fixed(1)), STRING_TRAVERSAL), scale(pattern, REGEX_LENGTH));
        return { cost: plus(cost, all) };
      }
      case 'contains_string':
        return {
          cost: plus(times(scale(this.sizeOf(target!), STRING_TRAVERSAL), scale(size(0), STRING_TRAVERSAL)), all),
        };
      case 'logical_or':
      case 'logical_and':
        return { cost: { min: argCosts[0]!.min, max: all.max } };
      case 'conditional':
        return { cost: plus(argCosts[0]!, union(argCosts[1]!, argCosts[2]!)), resultSize: union(size(1), size(2)) };
      case 'add_string':
      case 'add_bytes': {
        const resultSize = plus(size(0), size(1));
        return { cost: plus(scale(resultSize, STRING_TRAVERSAL), all), resultSize };
      }
      case 'add_list':
        return { cost: plus(fixed(1), all), resultSize: plus(size(0), size(1)) };
      default:
    }
    if (overload === 'equals' || overload === 'not_equals' || LENGTH_OVERLOADS.test(overload)) {
      const max = Math.min(size(0).max, size(1).max);
      return { cost: plus(scale({ min: max > 0 ? 1 : 0, max }, STRING_TRAVERSAL), all) };
    }
    return { cost: plus(fixed(1), all) };
  }

  #comprehension(expr: ComprehensionExpr): Estimate {
    const range = this.cost(expr.range);
    const init = this.cost(expr.init);
    const had = this.#iterations.has(expr.variable);
    const outer = this.#iterations.get(expr.variable);
    this.#iterations.set(expr.variable, this.#elementPath(expr.range));
    const loop = plus(this.cost(expr.condition), this.cost(expr.step));
    if (had) this.#iterations.set(expr.variable, outer);
    else this.#iterations.delete(expr.variable);
    const result = this.cost(expr.result);
    const count = this.#size(expr.range);
    this.#sizes.set(expr, count);
    return plus(range, init, result, times(count, loop));
  }

  /** Where the elements of a range stand; upstream goes on from an unknown place as well. */
  #elementPath(range: Expr): readonly string[] | undefined {
    const kind = range.type?.kind;
    if (kind !== 'list' && kind !== 'map') return undefined;
    return [...(this.#paths.get(range) ?? []), kind === 'map' ? '@keys' : '@items'];
  }
}

const SCALARS: ReadonlySet<string> = new Set(['bool', 'int', 'uint', 'double', 'duration', 'timestamp']);
const isScalar = (type: CelType | undefined): boolean => type !== undefined && SCALARS.has(type.kind);
