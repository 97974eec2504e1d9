// The text a rule makes for its own failure.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apiserver/schema/cel/validation.go#evalMessageExpression
import { goQuote } from '@kube-rx/apimachinery';
import type { Expr } from './ast.ts';
import { CelCostExceeded } from './evaluator.ts';
import type { RuleBindings } from './rule-bindings.ts';

const MAX_BYTES = 5 * 1024;

/** `text` is undefined when the expression made none that can be used; a fatal outcome ends all validation. */
export type MessageOutcome = { readonly text: string | undefined; readonly cost: number } | { readonly fatal: string };

export function evaluateMessage(expr: Expr, source: string, bindings: RuleBindings, budget: number): MessageOutcome {
  const { value, error, cost } = bindings.evaluate(expr, false);
  if (cost > budget) {
    return {
      fatal:
        'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run',
    };
  }
  if (error instanceof CelCostExceeded) {
    const why = 'no further validation rules will be run due to call cost exceeds limit for messageExpression:';
    return { fatal: `${why} ${goQuote(source)}` };
  }
  if (error !== undefined || typeof value !== 'string') return { text: undefined, cost };
  const text = value.trim();
  const usable = text !== '' && !text.includes('\n') && Buffer.byteLength(text) <= MAX_BYTES;
  return { text: usable ? text : undefined, cost };
}
