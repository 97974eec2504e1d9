// What a policy says of a request.
// Upstream: apiserver@v0.30.3:pkg/admission/plugin/policy/validating/validator.go#Validate, pkg/admission/plugin/webhook/matchconditions/matcher.go
import type { CelValue } from '../../apiextensions/cel/values.ts';
import { OUT_OF_BUDGET, type Outcome, runSet } from './evaluation.ts';
import type { Program, Validation } from './program.ts';

const BUDGET = 10_000_000;
const CONDITIONS_BUDGET = 2_500_000;
const MAX_MESSAGE_BYTES = 5 * 1024;

export interface Failure {
  readonly message: string;
  readonly reason: string;
  /** True for an annotation that cannot be made: refused whatever the actions of the binding are. */
  readonly always: boolean;
}

export interface ValidatorInput {
  readonly program: Program;
  readonly bindings: ReadonlyMap<string, CelValue>;
  /** Failure policy Ignore: expressions that cannot be run let the request pass. */
  readonly lenient: boolean;
}

export function validate({ program, bindings, lenient }: ValidatorInput): readonly Failure[] {
  const broken = (message: string, always = false): readonly Failure[] =>
    lenient ? [] : [{ message, reason: '', always }];
  const match = matches(program, bindings);
  if (match !== true) return match === false ? [] : broken(match.problem);
  const { variables, validations } = program;
  const rules = runSet(
    validations.map((one) => one.rule),
    variables,
    bindings,
    BUDGET,
  );
  if ('fatal' in rules) return broken(rules.fatal);
  const texts = runSet(
    validations.map((one) => one.messageExpression),
    variables,
    withoutAuthorizer(bindings),
    rules.budget,
  );
  const failures = validations.flatMap((validation, at) => {
    const outcome = rules.outcomes[at];
    if (outcome === undefined) return [];
    if ('problem' in outcome) return broken(outcome.problem);
    if ('fatal' in texts) return broken(`failed messageExpression: ${OUT_OF_BUDGET}`);
    if (outcome.value === true) return [];
    return [{ message: messageOf(validation, texts.outcomes[at]), reason: validation.reason, always: false }];
  });
  const annotations = runSet(program.auditAnnotations, variables, bindings, rules.budget);
  if ('fatal' in annotations) return broken(annotations.fatal);
  const unmade = annotations.outcomes.flatMap((outcome) =>
    outcome !== undefined && 'problem' in outcome ? broken(outcome.problem, true) : [],
  );
  return [...failures, ...unmade];
}

/** One condition that does not hold is enough, whatever is wrong with the others. */
function matches(
  { conditions, variables }: Program,
  bindings: ReadonlyMap<string, CelValue>,
): boolean | { readonly problem: string } {
  if (conditions.length === 0) return true;
  const known = new Map([...bindings, ['namespaceObject', null] as const]);
  const set = runSet(conditions, variables, known, CONDITIONS_BUDGET);
  if ('fatal' in set) return { problem: set.fatal };
  const problems: string[] = [];
  for (const outcome of set.outcomes) {
    if (outcome === undefined) continue;
    if ('problem' in outcome) problems.push(outcome.problem);
    else if (outcome.value === false) return false;
  }
  const [first] = problems;
  if (first === undefined) return true;
  const distinct = [...new Set(problems)];
  return { problem: distinct.length === 1 ? first : `[${distinct.join(', ')}]` };
}

function withoutAuthorizer(bindings: ReadonlyMap<string, CelValue>): ReadonlyMap<string, CelValue> {
  const rest = new Map(bindings);
  rest.delete('authorizer');
  return rest;
}

function messageOf({ rule, message }: Validation, outcome: Outcome | undefined): string {
  if (outcome !== undefined && 'value' in outcome && typeof outcome.value === 'string') {
    const text = outcome.value.trim();
    if (text !== '' && !text.includes('\n') && Buffer.byteLength(text) <= MAX_MESSAGE_BYTES) return text;
  }
  return message === '' ? `failed expression: ${rule.source.trim()}` : message;
}
