// A selector of an object in the text form that label selectors of requests have.
// Upstream: apimachinery@v0.30.3:pkg/labels/selector.go#Requirement.String
import { byCodePoint, type Draft, dict, dicts, entries, str, strings } from '../draft.ts';

interface Requirement {
  readonly key: string;
  readonly text: string;
}

const joined = (requirements: readonly Requirement[]): string =>
  [...requirements]
    .sort((a, b) => byCodePoint(a.key, b.key))
    .map((requirement) => requirement.text)
    .join(',');

const equalities = (parent: Draft | undefined, field: string): readonly Requirement[] =>
  entries(parent, field).map(([key, value]) => ({ key, text: `${key}=${value}` }));

function expression(requirement: Draft): Requirement {
  const key = str(requirement, 'key');
  const values = [...strings(requirement, 'values')].sort(byCodePoint).join(',');
  switch (str(requirement, 'operator')) {
    case 'In':
      return { key, text: `${key} in (${values})` };
    case 'NotIn':
      return { key, text: `${key} notin (${values})` };
    case 'DoesNotExist':
      return { key, text: `!${key}` };
    default:
      return { key, text: key };
  }
}

/** Of `spec.selector` as a LabelSelector. */
export function labelSelectorText(spec: Draft | undefined): string {
  const selector = dict(spec, 'selector');
  return joined([...equalities(selector, 'matchLabels'), ...dicts(selector, 'matchExpressions').map(expression)]);
}

/** Of `spec.selector` as a plain map. */
export function labelMapText(spec: Draft | undefined): string {
  return joined(equalities(spec, 'selector'));
}
