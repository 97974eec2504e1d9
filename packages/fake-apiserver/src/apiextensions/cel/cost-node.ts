// What the estimate of an expression and those of its calls tell each other.
import type { Expr } from './ast.ts';
import type { Estimate } from './cost-estimate.ts';
import type { CelType } from './types.ts';

export interface CallEstimate {
  readonly cost: Estimate;
  readonly resultSize?: Estimate | undefined;
}

/** What is known of a value: its type, where in the schema it is, how large it is. */
export interface CostNode {
  readonly expr: Expr | undefined;
  readonly type: CelType | undefined;
  readonly path: readonly string[] | undefined;
  readonly size: Estimate | undefined;
}

/** What the schema says about the size of the value at a path. */
export interface DeclaredSizes {
  declared(path: readonly string[] | undefined): Estimate | undefined;
}
