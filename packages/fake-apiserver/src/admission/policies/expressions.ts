// Compiles CEL expressions of admission policies.
// Upstream: apiserver@v0.30.3:pkg/admission/plugin/cel/compile.go#CompileCELExpression
// Differs: costs are not estimated; the budget at run time alone bounds an expression.
import type { Expr } from '../../apiextensions/cel/ast.ts';
import { check } from '../../apiextensions/cel/checker.ts';
import { optimize } from '../../apiextensions/cel/optimize.ts';
import { parse } from '../../apiextensions/cel/parser.ts';
import { CelIssues } from '../../apiextensions/cel/source.ts';
import { type CelType, DYN } from '../../apiextensions/cel/types.ts';
import { CelError } from '../../apiextensions/cel/values.ts';

export type Compiled = { readonly run: Expr; readonly type: CelType } | { readonly problem: string };

/** Types an expression may have, by how error texts name them; undefined takes any. */
export type Wanted = readonly ('bool' | 'string' | 'null_type')[] | undefined;

export function compileExpression(source: string, names: ReadonlyMap<string, CelType>, wanted?: Wanted): Compiled {
  try {
    const expr = parse(source);
    check(source, expr, names);
    const type = expr.type ?? DYN;
    const kind = type.kind === 'null' ? 'null_type' : type.kind;
    if (wanted !== undefined && !wanted.some((one) => one === kind)) {
      const [only] = wanted;
      return {
        problem: wanted.length === 1 ? `must evaluate to ${only}` : `must evaluate to one of [${wanted.join(' ')}]`,
      };
    }
    return { run: optimize(expr), type };
  } catch (error) {
    if (error instanceof CelIssues) return { problem: `compilation failed: ${error.message}` };
    if (error instanceof CelError) return { problem: `program instantiation failed: ${error.message}` };
    throw error;
  }
}
