// Macros: calls that are rewritten before anything looks at them.
// Upstream: github.com/google/cel-go@v0.17.8:parser/macro.go, cel/library.go
import { type CallExpr, call, constant, type Expr, ident, type ListExpr } from './ast.ts';

export const ACCUMULATOR = '__result__';

type Report = (at: number, message: string) => void;

const int = (at: number, value: bigint): Expr => constant(at, { type: 'int', value });
const bool = (at: number, value: boolean): Expr => constant(at, { type: 'bool', value });
const list = (at: number, ...elements: readonly Expr[]): ListExpr => ({
  kind: 'list',
  at,
  elements,
  optional: new Set(),
});

/** What a macro call stands for; undefined for a call that is none. */
export function expandMacro(macro: CallExpr, report: Report): Expr | undefined {
  const { name, target, args, at } = macro;
  if (target === undefined) return name === 'has' && args.length === 1 ? has(at, args[0]!, report) : undefined;
  switch (`${name}/${args.length}`) {
    case 'all/2':
      return quantifier(macro, report, {
        init: bool(at, true),
        condition: (accumulator) => call(at, '@not_strictly_false', [accumulator]),
        step: (accumulator, predicate) => call(at, '_&&_', [accumulator, predicate]),
        result: (accumulator) => accumulator,
      });
    case 'exists/2':
      return quantifier(macro, report, {
        init: bool(at, false),
        condition: (accumulator) => call(at, '@not_strictly_false', [call(at, '!_', [accumulator])]),
        step: (accumulator, predicate) => call(at, '_||_', [accumulator, predicate]),
        result: (accumulator) => accumulator,
      });
    case 'exists_one/2':
      return quantifier(macro, report, {
        init: int(at, 0n),
        condition: () => bool(at, true),
        step: (accumulator, predicate) =>
          call(at, '_?_:_', [predicate, call(at, '_+_', [accumulator, int(at, 1n)]), accumulator]),
        result: (accumulator) => call(at, '_==_', [accumulator, int(at, 1n)]),
      });
    case 'filter/2':
      return quantifier(macro, report, {
        init: list(at),
        condition: () => bool(at, true),
        step: (accumulator, predicate, variable) =>
          call(at, '_?_:_', [predicate, call(at, '_+_', [accumulator, list(at, ident(at, variable))]), accumulator]),
        result: (accumulator) => accumulator,
      });
    case 'map/2':
    case 'map/3':
      return mapping(macro, report);
    case 'optMap/2':
    case 'optFlatMap/2':
      return optionalMapping(macro, report);
    default:
      return undefined;
  }
}

function has(at: number, arg: Expr, report: Report): Expr | undefined {
  if (arg.kind !== 'select') {
    report(arg.at, 'invalid argument to has() macro');
    return arg;
  }
  return { ...arg, at, testOnly: true };
}

interface Quantifier {
  readonly init: Expr;
  condition(accumulator: Expr): Expr;
  step(accumulator: Expr, predicate: Expr, variable: string): Expr;
  result(accumulator: Expr): Expr;
}

function variableOf(macro: CallExpr, report: Report): string | undefined {
  const [variable] = macro.args;
  if (variable?.kind === 'ident') return variable.name;
  report(
    variable!.at,
    macro.name === 'optMap' ? 'optMap() variable name must be a simple identifier' : 'argument must be a simple name',
  );
  return undefined;
}

function quantifier(macro: CallExpr, report: Report, parts: Quantifier): Expr {
  const { at, target, args } = macro;
  const variable = variableOf(macro, report);
  if (variable === undefined) return macro;
  return {
    kind: 'comprehension',
    at,
    variable,
    range: target!,
    accumulator: ACCUMULATOR,
    init: parts.init,
    condition: parts.condition(ident(at, ACCUMULATOR)),
    step: parts.step(ident(at, ACCUMULATOR), args[1]!, variable),
    result: parts.result(ident(at, ACCUMULATOR)),
  };
}

function mapping(macro: CallExpr, report: Report): Expr {
  const { at, args } = macro;
  const [filter, transform] = args.length === 3 ? [args[1], args[2]!] : [undefined, args[1]!];
  return quantifier(macro, report, {
    init: list(at),
    condition: () => bool(at, true),
    step: (accumulator) => {
      const appended = call(at, '_+_', [accumulator, list(at, transform)]);
      return filter === undefined ? appended : call(at, '_?_:_', [filter, appended, ident(at, ACCUMULATOR)]);
    },
    result: (accumulator) => accumulator,
  });
}

/** `o.optMap(v, e)`: `o.hasValue() ? optional.of(e with v = o.value()) : optional.none()`. */
function optionalMapping(macro: CallExpr, report: Report): Expr {
  const { at, target, args, name } = macro;
  const variable = variableOf(macro, report);
  if (variable === undefined) return macro;
  const bound: Expr = {
    kind: 'comprehension',
    at,
    variable: '#unused',
    range: list(at),
    accumulator: variable,
    init: call(at, 'value', [], target!),
    condition: bool(at, false),
    step: ident(at, variable),
    result: args[1]!,
  };
  return call(at, '_?_:_', [
    call(at, 'hasValue', [], target!),
    name === 'optMap' ? call(at, 'optional.of', [bound]) : bound,
    call(at, 'optional.none', []),
  ]);
}
