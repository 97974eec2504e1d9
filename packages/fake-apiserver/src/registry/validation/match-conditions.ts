// CEL conditions that decide whether a webhook or a policy is asked at all.
// Upstream: kubernetes@v1.30.3:pkg/apis/admissionregistration/validation/validation.go#validateMatchConditions
import { isQualifiedName } from '@kube-rx/apimachinery';
import { environment } from '../../admission/policies/environment.ts';
import { type Draft, dicts, str } from '../draft.ts';
import type { FieldErrors, FieldPath } from './field-errors.ts';
import { validateExpression } from './policy-expressions.ts';
import { messages } from './values.ts';

const MAX_CONDITIONS = 64;

/** Without variables: conditions are looked at before them. */
export function validateMatchConditions(parent: Draft, hasParams: boolean, at: FieldPath, errors: FieldErrors): void {
  const conditions = dicts(parent, 'matchConditions');
  if (conditions.length > MAX_CONDITIONS) errors.tooMany(at, conditions.length, MAX_CONDITIONS);
  const known = environment({ hasParams, hasAuthorizer: true });
  const names = new Set<string>();
  conditions.forEach((condition, index) => {
    const here = at.index(index);
    const expression = str(condition, 'expression').trim();
    if (expression === '') errors.required(here.child('expression'));
    else validateExpression(expression, ['bool'], known, here.child('expression'), errors);
    const name = str(condition, 'name');
    if (name === '') errors.required(here.child('name'));
    else messages(name, isQualifiedName(name), here.child('name'), errors);
    if (name !== '' && names.has(name)) errors.duplicate(here.child('name'), name);
    names.add(name);
  });
}
