// Evaluates checked expressions, and counts what that costs.
// Upstream: github.com/google/cel-go@v0.17.8:interpreter/interpretable.go, runtimecost.go
import type { CallExpr, ComprehensionExpr, Expr, MapExpr, SelectExpr } from './ast.ts';
import { functions, lookUp } from './functions.ts';
import { callCost } from './runtime-cost.ts';
import {
  CelError,
  CelList,
  CelMap,
  CelOptional,
  CelTypeValue,
  CelUint,
  type CelValue,
  isStruct,
  noSuchOverload,
} from './values.ts';

export class CelCostExceeded extends CelError {
  override readonly name = 'CelCostExceeded';
}

export type Bindings = ReadonlyMap<string, CelValue>;

export interface Evaluation {
  /** Of what was evaluated before it ended. */
  readonly cost: number;
  readonly value?: CelValue;
  readonly error?: CelError;
}

/** Runs an expression; it never throws for what the expression or its data do wrong. */
export function evaluate(expr: Expr, bindings: Bindings, costLimit: number): Evaluation {
  const run = new Evaluator(bindings, costLimit);
  try {
    const value = run.eval(expr);
    return { value, cost: run.cost };
  } catch (error) {
    if (error instanceof CelError) return { error, cost: run.cost };
    if (error instanceof RangeError)
      return { error: new CelError('expression recursion limit exceeded'), cost: run.cost };
    throw error;
  }
}

const LIST_COST = 10;
const MAP_COST = 30;

class Evaluator {
  cost = 0;
  readonly #limit: number;
  readonly #scopes: Map<string, CelValue | CelError>[];

  constructor(bindings: Bindings, limit: number) {
    this.#limit = limit;
    this.#scopes = [new Map(bindings)];
  }

  #spend(cost: number): void {
    this.cost += cost;
    if (this.cost > this.#limit) throw new CelCostExceeded('operation cancelled: actual cost limit exceeded');
  }

  eval(expr: Expr): CelValue {
    switch (expr.kind) {
      case 'constant':
        return expr.constant.type === 'uint' ? new CelUint(expr.constant.value) : expr.constant.value;
      case 'folded':
        return expr.value;
      case 'ident':
        this.#spend(1);
        return this.#resolve(expr.name);
      case 'select':
        return this.#select(expr);
      case 'call':
        return this.#call(expr);
      case 'list': {
        const items = expr.elements.flatMap((element, at) => this.#element(element, expr.optional.has(at)));
        this.#spend(LIST_COST);
        return new CelList(items);
      }
      case 'map':
        return this.#map(expr);
      case 'struct':
        throw new CelError(`no such type: ${expr.name}`);
      case 'comprehension':
        return this.#comprehension(expr);
    }
  }

  #resolve(name: string): CelValue {
    for (let at = this.#scopes.length - 1; at >= 0; at--) {
      const value = this.#scopes[at]!.get(name);
      if (value instanceof CelError) throw value;
      if (value !== undefined) return value;
    }
    if (/^[a-z_]+$/.test(name) && name !== 'self' && name !== 'oldSelf') return new CelTypeValue(name);
    throw new CelError(`no such attribute(s): ${name}`);
  }

  /** Nothing for an optional element without a value. */
  #element(element: Expr, optional: boolean): readonly CelValue[] {
    const value = this.eval(element);
    if (!optional) return [value];
    if (!(value instanceof CelOptional)) throw noSuchOverload();
    return value.value === undefined ? [] : [value.value];
  }

  #map(expr: MapExpr): CelValue {
    const entries: (readonly [CelValue, CelValue])[] = [];
    for (const entry of expr.entries) {
      const key = this.eval(entry.key);
      for (const value of this.#element(entry.value, entry.optional)) entries.push([key, value]);
    }
    this.#spend(MAP_COST);
    return new CelMap(entries);
  }

  #select(expr: SelectExpr): CelValue {
    const operand = this.eval(expr.operand);
    if (operand instanceof CelOptional) {
      const inside = operand.value === undefined ? undefined : fieldOf(operand.value, expr.field);
      return expr.testOnly ? inside !== undefined : new CelOptional(inside);
    }
    if (expr.testOnly) return fieldOf(operand, expr.field) !== undefined;
    this.#spend(isAttribute(expr.operand) ? 1 : 2);
    const value = fieldOf(operand, expr.field);
    if (value === undefined) throw new CelError(`no such key: ${expr.field}`);
    return value;
  }

  #call(expr: CallExpr): CelValue {
    switch (expr.name) {
      case '_&&_':
        return this.#logical(expr, false);
      case '_||_':
        return this.#logical(expr, true);
      case '_?_:_':
        return this.#branch(expr.args[this.#boolean(expr.args[0]!) ? 1 : 2]!);
      case '@not_strictly_false':
        return this.#notStrictlyFalse(expr.args[0]!);
      case '_?._':
        return this.#optionalSelect(expr);
      case 'or':
      case 'orValue':
        return this.#orElse(expr);
      default:
    }
    const all = expr.target === undefined ? expr.args : [expr.target, ...expr.args];
    const args = all.map((arg) => this.#outcome(arg));
    const values = args.map((arg) => (arg instanceof CelError ? undefined : arg));
    const failed = args.find((arg) => arg instanceof CelError);
    let result: CelValue | CelError;
    if (failed !== undefined) result = failed;
    else {
      try {
        result = (functions.get(expr.name) ?? missing)(values as readonly CelValue[]);
      } catch (error) {
        if (!(error instanceof CelError)) throw error;
        result = error;
      }
    }
    const value = result instanceof CelError ? undefined : result;
    if (expr.name === '_[_]') {
      if (!isAttribute(all[0]!)) this.#spend(1);
      if (isAttribute(all[1]!)) this.cost -= 1;
    }
    if (!expr.free && !(expr.name === '_[?_]' && isNothing(value))) this.#spend(callCost(expr.name, values, value));
    if (result instanceof CelError) throw result;
    return result;
  }

  /** A branch that is a variable or a field is not charged for its first step. */
  #branch(expr: Expr): CelValue {
    const value = this.eval(expr);
    if (isAttribute(expr)) this.cost -= 1;
    return value;
  }

  #boolean(expr: Expr): boolean {
    const value = this.eval(expr);
    if (typeof value !== 'boolean') throw noSuchOverload();
    return value;
  }

  /** One side that decides is enough, whatever happens on the other. */
  #logical(expr: CallExpr, decides: boolean): CelValue {
    const [left, right] = expr.args;
    const first = this.#outcome(left!);
    if (first === decides) return decides;
    const second = this.#outcome(right!);
    if (second === decides) return decides;
    for (const side of [first, second]) {
      if (side instanceof CelError) throw side;
      if (typeof side !== 'boolean') throw noSuchOverload();
    }
    return !decides;
  }

  #notStrictlyFalse(expr: Expr): boolean {
    const outcome = this.#outcome(expr);
    this.#spend(1);
    return outcome !== false;
  }

  #optionalSelect(expr: CallExpr): CelValue {
    const operand = this.eval(expr.args[0]!);
    const name = this.eval(expr.args[1]!);
    const target = operand instanceof CelOptional ? operand.value : operand;
    const found = target === undefined ? undefined : fieldOf(target, String(name));
    if (found !== undefined) this.#spend(1);
    return new CelOptional(found);
  }

  /** The alternative is not looked at when it is not needed. */
  #orElse(expr: CallExpr): CelValue {
    const optional = this.eval(expr.target!);
    if (!(optional instanceof CelOptional)) throw noSuchOverload();
    if (optional.value === undefined) return this.eval(expr.args[0]!);
    return expr.name === 'or' ? optional : optional.value;
  }

  /** A step that fails does not end the loop: its error is the running result, which a later step may decide without. */
  #comprehension(expr: ComprehensionExpr): CelValue {
    const range = this.eval(expr.range);
    const outer = new Map<string, CelValue | CelError>();
    this.#scopes.push(outer);
    outer.set(expr.accumulator, this.#outcome(expr.init));
    for (const item of itemsOf(range)) {
      this.#scopes.push(new Map([[expr.variable, item]]));
      const more = this.eval(expr.condition) !== false;
      const next = more ? this.#outcome(expr.step) : undefined;
      this.#scopes.pop();
      if (next === undefined) break;
      outer.set(expr.accumulator, next);
    }
    const result = this.eval(expr.result);
    this.#scopes.pop();
    return result;
  }

  #outcome(expr: Expr): CelValue | CelError {
    const depth = this.#scopes.length;
    try {
      return this.eval(expr);
    } catch (error) {
      if (!(error instanceof CelError) || error instanceof CelCostExceeded) throw error;
      this.#scopes.splice(depth);
      return error;
    }
  }
}

const missing = (): never => {
  throw noSuchOverload();
};
const isNothing = (value: CelValue | undefined): boolean => value instanceof CelOptional && value.value === undefined;

/** A variable, or a field or an element of something. */
function isAttribute(expr: Expr): boolean {
  if (expr.kind === 'ident') return true;
  if (expr.kind === 'select') return !expr.testOnly;
  return expr.kind === 'call' && ['_[_]', '_?._', '_[?_]'].includes(expr.name);
}

function fieldOf(target: CelValue, field: string): CelValue | undefined {
  return isStruct(target) ? target.field(field) : lookUp(target, field);
}

function itemsOf(range: CelValue): readonly CelValue[] {
  if (range instanceof CelList) return range.items;
  if (range instanceof CelMap) return range.entries().map(([key]) => key);
  if (isStruct(range)) return range.fieldNames;
  throw noSuchOverload();
}
