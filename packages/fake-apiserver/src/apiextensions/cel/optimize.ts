// Works out the constant parts of a checked expression once, when it is compiled: what they cost is not charged to any run.
// Upstream: github.com/google/cel-go@v0.17.8:interpreter/decorators.go#decOptimize, decRegexOptimizer
import { compileGoRegexp } from '../validation/go-regexp.ts';
import type { CallExpr, ConstantExpr, Expr, MapExpr } from './ast.ts';
import { TYPE_NAMES } from './declarations.ts';
import { evaluate } from './evaluator.ts';
import { CelError, type CelValue } from './values.ts';

const CONVERSIONS: ReadonlySet<string> = new Set([
  'bool',
  'bytes',
  'double',
  'duration',
  'dyn',
  'int',
  'string',
  'timestamp',
  'uint',
]);
const PATTERNS: ReadonlySet<string> = new Set(['matches', 'find', 'findAll']);

/** Throws a CelError where a constant part cannot be worked out. */
export function optimize(expr: Expr): Expr {
  switch (expr.kind) {
    case 'ident':
      return expr.type?.kind === 'type' && TYPE_NAMES.has(expr.name) ? folded(expr) : expr;
    case 'select':
      return { ...expr, operand: optimize(expr.operand) };
    case 'list': {
      const elements = expr.elements.map(optimize);
      const made = { ...expr, elements };
      return expr.optional.size === 0 && elements.every(isConstant) ? folded(made) : made;
    }
    case 'map':
      return optimizeMap(expr);
    case 'comprehension':
      return {
        ...expr,
        range: optimize(expr.range),
        init: optimize(expr.init),
        condition: optimize(expr.condition),
        step: optimize(expr.step),
        result: optimize(expr.result),
      };
    case 'call':
      return optimizeCall(expr);
    default:
      return expr;
  }
}

function optimizeMap(expr: MapExpr): Expr {
  const entries = expr.entries.map((entry) => ({ ...entry, key: optimize(entry.key), value: optimize(entry.value) }));
  const made = { ...expr, entries };
  const plain = entries.every((entry) => !entry.optional && isConstant(entry.key) && isConstant(entry.value));
  return plain ? folded(made) : made;
}

function optimizeCall(expr: CallExpr): Expr {
  const args = expr.args.map(optimize);
  const target = expr.target === undefined ? undefined : optimize(expr.target);
  const made: CallExpr = { ...expr, target, args };
  const [first, second] = args;
  if (CONVERSIONS.has(expr.name) && target === undefined && args.length === 1 && isConstant(first!)) {
    return folded(made);
  }
  // A constant list is looked up as a set.
  if (expr.name === '@in' && second?.kind === 'folded') return { ...made, free: true };
  const pattern = target === undefined ? second : first;
  if (PATTERNS.has(expr.name) && pattern?.kind === 'constant' && pattern.constant.type === 'string') {
    checkPattern(pattern.constant.value);
  }
  return made;
}

function checkPattern(pattern: string): void {
  try {
    compileGoRegexp(pattern);
  } catch (error) {
    throw new CelError((error as Error).message);
  }
}

const isConstant = (expr: Expr): expr is ConstantExpr => expr.kind === 'constant' || expr.kind === 'folded';

function folded(expr: Expr): Expr {
  const { value, error } = evaluate(expr, new Map(), Infinity);
  if (error !== undefined) throw error;
  return {
    kind: 'folded',
    at: expr.at,
    value: value as CelValue,
    ...(expr.type === undefined ? {} : { type: expr.type }),
  };
}
