// Expressions as the parser makes them and the checker annotates them.
// Upstream: github.com/google/cel-go@v0.17.8:common/ast/expr.go
import type { CelType } from './types.ts';
import type { CelValue } from './values.ts';

export type Constant =
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'null'; readonly value: null }
  | { readonly type: 'int'; readonly value: bigint }
  | { readonly type: 'uint'; readonly value: bigint }
  | { readonly type: 'double'; readonly value: number }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'bytes'; readonly value: Uint8Array };

interface Base {
  /** Offset in code points of the token that stands for the node in error texts. */
  readonly at: number;
  /** Set by the checker. */
  type?: CelType;
  /** Overloads that fit a call, set by the checker. */
  overloads?: readonly string[];
}

export interface ConstantExpr extends Base {
  readonly kind: 'constant';
  readonly constant: Constant;
}
/** A constant part that was worked out when the expression was compiled. */
export interface FoldedExpr extends Base {
  readonly kind: 'folded';
  readonly value: CelValue;
}
export interface IdentExpr extends Base {
  readonly kind: 'ident';
  readonly name: string;
}
export interface SelectExpr extends Base {
  readonly kind: 'select';
  readonly operand: Expr;
  readonly field: string;
  /** `has(operand.field)` */
  readonly testOnly: boolean;
}
export interface CallExpr extends Base {
  readonly kind: 'call';
  name: string;
  target: Expr | undefined;
  readonly args: readonly Expr[];
  /** The call costs nothing besides its arguments. */
  readonly free?: boolean;
}
export interface ListExpr extends Base {
  readonly kind: 'list';
  readonly elements: readonly Expr[];
  readonly optional: ReadonlySet<number>;
}
export interface MapEntry {
  readonly at: number;
  readonly key: Expr;
  readonly value: Expr;
  readonly optional: boolean;
}
export interface MapExpr extends Base {
  readonly kind: 'map';
  readonly entries: readonly MapEntry[];
}
export interface StructExpr extends Base {
  readonly kind: 'struct';
  readonly name: string;
}
export interface ComprehensionExpr extends Base {
  readonly kind: 'comprehension';
  readonly variable: string;
  readonly range: Expr;
  readonly accumulator: string;
  readonly init: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}

export type Expr =
  | ConstantExpr
  | FoldedExpr
  | IdentExpr
  | SelectExpr
  | CallExpr
  | ListExpr
  | MapExpr
  | StructExpr
  | ComprehensionExpr;

export const constant = (at: number, value: Constant): ConstantExpr => ({ kind: 'constant', at, constant: value });
export const ident = (at: number, name: string): IdentExpr => ({ kind: 'ident', at, name });
export const call = (at: number, name: string, args: readonly Expr[], target?: Expr): CallExpr => ({
  kind: 'call',
  at,
  name,
  target,
  args,
});

/** `a.b.c` for a chain of selections on an identifier, else undefined. */
export function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === 'ident') return expr.name;
  if (expr.kind !== 'select' || expr.testOnly) return undefined;
  const outer = qualifiedName(expr.operand);
  return outer === undefined ? undefined : `${outer}.${expr.field}`;
}
