// Compiles the CEL rules of one schema node.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apiserver/schema/cel/compilation.go
import type { Structural, ValidationRule } from '../schema/structural.ts';
import { validFieldPath } from '../validation/valid-field-path.ts';
import type { Expr } from './ast.ts';
import { check } from './checker.ts';
import { estimateCost } from './cost.ts';
import { MAX_REQUEST_BYTES, schemaDeclType } from './decl-type.ts';
import { optimize } from './optimize.ts';
import { parse } from './parser.ts';
import { CelIssues } from './source.ts';
import type { DeclType } from './types.ts';
import { type CelType, optionalOf } from './types.ts';
import { CelError } from './values.ts';

export interface CompiledRule {
  /** Why the rule cannot be used. */
  readonly error: string | undefined;
  /** Undefined for an empty rule or one with an error. */
  readonly program: Expr | undefined;
  readonly usesOldSelf: boolean;
  readonly maxCost: number;
  /** How often the node may occur below a list or map without bounds. */
  readonly maxCardinality: number;
  readonly messageExpression: Expr | undefined;
  readonly messageExpressionError: string | undefined;
  readonly messageExpressionMaxCost: number;
  /** `fieldPath` of the rule in canonical form, '' for none. */
  readonly fieldPath: string;
}

const NOTHING: CompiledRule = {
  error: undefined,
  program: undefined,
  usesOldSelf: false,
  maxCost: 0,
  maxCardinality: 0,
  messageExpression: undefined,
  messageExpressionError: undefined,
  messageExpressionMaxCost: 0,
  fieldPath: '',
};

/** One result per rule, in their order. */
export function compileRules(schema: Structural, isResourceRoot: boolean): readonly CompiledRule[] {
  if (schema.validations.length === 0) return [];
  const decl = schemaDeclType(schema, isResourceRoot, 'selfType');
  if (decl === undefined) return schema.validations.map(() => NOTHING);
  const maxCardinality = Math.floor(MAX_REQUEST_BYTES / (decl.minSize + 1));
  return schema.validations.map((rule) => ({ ...compileRule(schema, rule, decl), maxCardinality }));
}

function compileRule(schema: Structural, rule: ValidationRule, decl: DeclType): CompiledRule {
  if (rule.rule.trim() === '') return NOTHING;
  const oldType = rule.optionalOldSelf === true ? optionalOf(decl.type) : decl.type;
  const variables = new Map([
    ['self', decl.type],
    ['oldSelf', oldType],
  ]);
  const program = compile(rule.rule, variables, 'bool');
  if ('error' in program) return { ...NOTHING, error: program.error };
  const compiled = {
    ...NOTHING,
    program: program.run,
    usesOldSelf: mentions(program.expr, 'oldSelf'),
    maxCost: estimateCost(program.expr, decl).max,
  };
  if (rule.messageExpression === '') return { ...compiled, fieldPath: normalizedPath(schema, rule) };
  const message = compile(rule.messageExpression, variables, 'string');
  if ('error' in message) return { ...compiled, messageExpressionError: message.error };
  return {
    ...compiled,
    messageExpression: message.run,
    messageExpressionMaxCost: estimateCost(message.expr, decl).max,
    fieldPath: normalizedPath(schema, rule),
  };
}

/** The expression as it is written, and as it is run. */
type Compiled = { readonly expr: Expr; readonly run: Expr } | { readonly error: string };

function compile(source: string, variables: ReadonlyMap<string, CelType>, wanted: 'bool' | 'string'): Compiled {
  const isRule = wanted === 'bool';
  try {
    const expr = parse(source);
    check(source, expr, variables);
    if (expr.type?.kind !== wanted) {
      return {
        error: isRule ? 'cel expression must evaluate to a bool' : 'messageExpression must evaluate to a string',
      };
    }
    return { expr, run: optimize(expr) };
  } catch (error) {
    if (error instanceof CelError) {
      return { error: `${isRule ? '' : 'messageExpression '}program instantiation failed: ${error.message}` };
    }
    if (!(error instanceof CelIssues)) throw error;
    return { error: `${isRule ? '' : 'messageExpression '}compilation failed: ${error.message}` };
  }
}

function normalizedPath(schema: Structural, rule: ValidationRule): string {
  if (rule.fieldPath === '') return '';
  const valid = validFieldPath(rule.fieldPath, schema);
  return 'error' in valid ? '' : (valid.path ?? '');
}

function mentions(expr: Expr, name: string): boolean {
  switch (expr.kind) {
    case 'ident':
      return expr.name === name;
    case 'select':
      return mentions(expr.operand, name);
    case 'call':
      return [...(expr.target === undefined ? [] : [expr.target]), ...expr.args].some((arg) => mentions(arg, name));
    case 'list':
      return expr.elements.some((element) => mentions(element, name));
    case 'map':
      return expr.entries.some((entry) => mentions(entry.key, name) || mentions(entry.value, name));
    case 'comprehension':
      return [expr.range, expr.init, expr.condition, expr.step, expr.result].some((part) => mentions(part, name));
    default:
      return false;
  }
}
