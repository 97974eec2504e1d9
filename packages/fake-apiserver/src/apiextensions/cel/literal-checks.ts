// Checks of literals that types do not say: regular expressions, times, lists and maps of one type.
// Upstream: github.com/google/cel-go@v0.17.8:cel/validator.go
import { compileGoRegexp } from '../validation/go-regexp.ts';
import type { Expr } from './ast.ts';
import type { Issue } from './source.ts';
import { parseDuration, parseTimestamp } from './time.ts';
import { type CelType, formatType, isDynOrError, sameType } from './types.ts';

type Visit = (expr: Expr) => void;

function walk(expr: Expr, visit: Visit): void {
  visit(expr);
  for (const child of childrenOf(expr)) walk(child, visit);
}

function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'select':
      return [expr.operand];
    case 'call':
      return expr.target === undefined ? expr.args : [expr.target, ...expr.args];
    case 'list':
      return expr.elements;
    case 'map':
      return expr.entries.flatMap((entry) => [entry.key, entry.value]);
    case 'comprehension':
      return [expr.range, expr.init, expr.condition, expr.step, expr.result];
    default:
      return [];
  }
}

export function literalIssues(root: Expr): readonly Issue[] {
  const issues: Issue[] = [];
  walk(root, (expr) => {
    if (expr.kind === 'call')
      checkCall(expr.name, expr.target === undefined ? expr.args[0] : expr.target, expr.args, issues);
    else if (expr.kind === 'list') sameTypes(expr.elements, expr.optional, issues);
    else if (expr.kind === 'map') {
      sameTypes(
        expr.entries.map((entry) => entry.key),
        new Set(),
        issues,
      );
      sameTypes(
        expr.entries.map((entry) => entry.value),
        new Set(expr.entries.flatMap((entry, at) => (entry.optional ? [at] : []))),
        issues,
      );
    }
  });
  return issues;
}

function checkCall(name: string, first: Expr | undefined, args: readonly Expr[], issues: Issue[]): void {
  const text = name === 'matches' ? args.at(-1) : first;
  if (text?.kind !== 'constant' || text.constant.type !== 'string') return;
  const { value } = text.constant;
  const attempt = (run: (value: string) => unknown): void => {
    try {
      run(value);
    } catch {
      issues.push({ at: text.at, message: `invalid ${name} argument` });
    }
  };
  if (name === 'matches') attempt(compileGoRegexp);
  else if (name === 'duration') attempt(parseDuration);
  else if (name === 'timestamp') attempt(parseTimestamp);
}

/** Elements of a literal are of one type; what is dynamic fits. */
function sameTypes(elements: readonly Expr[], optional: ReadonlySet<number>, issues: Issue[]): void {
  let first: CelType | undefined;
  for (const [at, element] of elements.entries()) {
    const whole = element.type;
    if (whole === undefined) continue;
    const type = optional.has(at) && whole.kind === 'optional' ? whole.of : whole;
    if (isDynOrError(type)) continue;
    if (first === undefined) first = type;
    else if (!sameType(first, type)) {
      issues.push({ at: element.at, message: `expected type '${formatType(first)}' but found '${formatType(type)}'` });
      return;
    }
  }
}
