// A policy whose expressions are compiled.
// Upstream: apiserver@v0.30.3:pkg/admission/plugin/policy/validating/plugin.go#compilePolicy
import { type CelType, DYN, listOf, mapOf } from '../../apiextensions/cel/types.ts';
import { type Draft, dict, dicts, str } from '../../registry/draft.ts';
import { environment } from './environment.ts';
import { type Compiled, compileExpression, type Wanted } from './expressions.ts';

export interface Part {
  readonly source: string;
  readonly compiled: Compiled;
}

export interface Validation {
  readonly rule: Part;
  readonly messageExpression: Part | undefined;
  readonly message: string;
  readonly reason: string;
}

export interface Program {
  readonly hasParams: boolean;
  readonly variables: ReadonlyMap<string, Compiled>;
  readonly conditions: readonly Part[];
  readonly validations: readonly Validation[];
  readonly auditAnnotations: readonly Part[];
}

/** Variables see those before them only. */
export function compileVariables(
  declared: readonly Draft[],
  hasParams: boolean,
): { readonly compiled: readonly Compiled[]; readonly types: ReadonlyMap<string, CelType> } {
  const compiled: Compiled[] = [];
  const types = new Map<string, CelType>();
  for (const one of declared) {
    const name = str(one, 'name');
    const names = environment({ hasParams, hasAuthorizer: true, variables: types });
    const result = compileExpression(str(one, 'expression'), names);
    compiled.push(result);
    types.set(name, 'type' in result ? declarable(result.type) : DYN);
  }
  return { compiled, types };
}

const SCALARS: ReadonlySet<string> = new Set('bool bytes double duration int null string timestamp uint'.split(' '));

/** Variables are declared with simple types only. */
function declarable(type: CelType): CelType {
  if (type.kind === 'list') return listOf(declarable(type.element));
  if (type.kind === 'map') return mapOf(declarable(type.key), declarable(type.value));
  return SCALARS.has(type.kind) ? type : DYN;
}

export function compilePolicy(policy: Draft): Program {
  const spec = dict(policy, 'spec');
  const hasParams = dict(spec, 'paramKind') !== undefined;
  const declared = dicts(spec, 'variables');
  const { compiled, types } = compileVariables(declared, hasParams);
  const names = environment({ hasParams, hasAuthorizer: true, variables: types });
  const messageNames = environment({ hasParams, hasAuthorizer: false, variables: types });
  const part = (source: string, wanted: Wanted, known = names): Part => ({
    source,
    compiled: compileExpression(source, known, wanted),
  });
  return {
    hasParams,
    variables: new Map(declared.map((one, at) => [str(one, 'name'), compiled[at]!] as const)),
    conditions: dicts(spec, 'matchConditions').map((one) => part(str(one, 'expression'), ['bool'])),
    validations: dicts(spec, 'validations').map((one) => {
      const text = str(one, 'messageExpression');
      return {
        rule: part(str(one, 'expression'), ['bool']),
        messageExpression: text === '' ? undefined : part(text, ['string'], messageNames),
        message: str(one, 'message').trim(),
        reason: str(one, 'reason') || 'Invalid',
      };
    }),
    auditAnnotations: dicts(spec, 'auditAnnotations').map((one) =>
      part(str(one, 'valueExpression'), ['string', 'null_type']),
    ),
  };
}
