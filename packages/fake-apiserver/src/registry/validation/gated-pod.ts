// A pod that waits behind scheduling gates may still be told where it may not run.
// Upstream: kubernetes@v1.30.3:pkg/apis/core/validation/validation.go#validateNodeSelectorMutation, validateNodeAffinityMutation
import { goQuote } from '@kube-rx/apimachinery';
import { type Draft, dict, dicts, entries, get, has, put, semanticEqual, str, strings } from '../draft.ts';
import { type FieldErrors, type FieldPath, go, goStringList, goStringMap } from './field-errors.ts';

const MUST = 'requiredDuringSchedulingIgnoredDuringExecution';

function goRequirements(term: Draft, field: string): string {
  const type = 'core.NodeSelectorRequirement';
  if (!has(term, field)) return `[]${type}(nil)`;
  const parts = dicts(term, field).map((one) => {
    const values = goStringList(has(one, 'values') ? strings(one, 'values') : undefined);
    return `${type}{Key:${goQuote(str(one, 'key'))}, Operator:${goQuote(str(one, 'operator'))}, Values:${values}}`;
  });
  return `[]${type}{${parts.join(', ')}}`;
}

const goTerm = (term: Draft): string =>
  `core.NodeSelectorTerm{MatchExpressions:${goRequirements(term, 'matchExpressions')}, MatchFields:${goRequirements(term, 'matchFields')}}`;

const goTerms = (terms: readonly Draft[]): string =>
  terms.length === 0 ? '[]core.NodeSelectorTerm(nil)' : `[]core.NodeSelectorTerm{${terms.map(goTerm).join(', ')}}`;

/** What was asked for stands at the front, unchanged. An empty term matches nothing and must stay one. */
function onlyAdds(now: Draft, before: Draft): boolean {
  const fields = ['matchExpressions', 'matchFields'];
  if (fields.every((field) => dicts(before, field).length === 0))
    return fields.every((field) => dicts(now, field).length === 0);
  return fields.every((field) => {
    const [added, kept] = [dicts(now, field), dicts(before, field)];
    return kept.every((one, index) => added[index] !== undefined && semanticEqual(added[index], one));
  });
}

/** Errors of a narrowed choice of nodes; nothing may be taken back. */
export function validateGated(spec: Draft, old: Draft, at: FieldPath, errors: FieldErrors): void {
  const selector = dict(spec, 'nodeSelector');
  const lost = entries(old, 'nodeSelector').some(([key, value]) => str(selector, key) !== value);
  if (lost) {
    const detail = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)';
    errors.invalid(at.child('nodeSelector'), go(goStringMap(selector)), detail);
  }
  const termsOf = (of: Draft): readonly Draft[] =>
    dicts(dict(of, 'affinity', 'nodeAffinity', MUST), 'nodeSelectorTerms');
  const [now, before] = [termsOf(spec), termsOf(old)];
  const here = at.child('affinity', 'nodeAffinity', MUST, 'nodeSelectorTerms');
  if (before.length === 0) return;
  if (before.length !== now.length) {
    const detail = 'no additions/deletions to non-empty NodeSelectorTerms list are allowed';
    errors.invalid(here, go(goTerms(now)), detail);
    return;
  }
  before.forEach((term, index) => {
    if (onlyAdds(now[index]!, term)) return;
    errors.invalid(
      here.index(index),
      go(goTerm(now[index]!)),
      'only additions are allowed (no mutations or deletions)',
    );
  });
}

/** Sets back in a copy of the new spec what gates let change. */
export function ungate(copy: Draft, old: Draft): void {
  const set = (parent: Draft, field: string, value: unknown): void => {
    if (value === undefined) delete parent[field];
    else put(parent, field, value);
  };
  set(copy, 'nodeSelector', get(old, 'nodeSelector'));
  const [affinity, before] = [dict(copy, 'affinity'), dict(old, 'affinity')];
  const nodes = get(before, 'nodeAffinity');
  if (semanticEqual(get(affinity, 'nodeAffinity'), nodes)) return;
  if (affinity === undefined) put(copy, 'affinity', { nodeAffinity: nodes });
  else if (before === undefined && !has(affinity, 'podAffinity') && !has(affinity, 'podAntiAffinity'))
    delete copy['affinity'];
  else set(affinity, 'nodeAffinity', nodes);
}
