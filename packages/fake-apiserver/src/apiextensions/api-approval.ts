// Groups of the Kubernetes community need a sign of approval.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apihelpers/helpers.go#GetAPIApprovalState, pkg/controller/apiapproval
import { goQuote } from '@kube-rx/apimachinery';
import type { Crd, CrdCondition } from './crd.ts';
import { type FieldError, invalid, key, required } from './field-error.ts';
import { getField } from './schema/json.ts';

const ANNOTATION = 'api-approved.kubernetes.io';
const HINT = 'see https://github.com/kubernetes/enhancements/pull/1111';

type Approval = 'missing' | 'invalid' | 'bypassed' | 'approved';

export function isProtectedGroup(group: string): boolean {
  return ['k8s.io', 'kubernetes.io'].some((domain) => group === domain || group.endsWith(`.${domain}`));
}

const annotationOf = (crd: Crd): string => {
  const value = getField(crd.annotations, ANNOTATION);
  return typeof value === 'string' ? value : '';
};

function approvalOf(crd: Crd): { readonly state: Approval; readonly reason: string } {
  const annotation = annotationOf(crd);
  const needs = `protected groups must have approval annotation "${ANNOTATION}"`;
  if (annotation === '') return { state: 'missing', reason: `${needs}, ${HINT}` };
  if (annotation.startsWith('unapproved')) return { state: 'bypassed', reason: `not approved: ${goQuote(annotation)}` };
  if (/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#\s]+\S*$/.test(annotation)) {
    return { state: 'approved', reason: `approved in ${annotation}` };
  }
  return { state: 'invalid', reason: `${needs} with either a URL or a reason starting with "unapproved", ${HINT}` };
}

/** Refuses a protected group without approval; what was already so may stay. */
export function validateApproval(crd: Crd, old: Crd | undefined): FieldError[] {
  if (!isProtectedGroup(crd.group)) return [];
  const { state, reason } = approvalOf(crd);
  if (old !== undefined && approvalOf(old).state === state) return [];
  const path = key('metadata.annotations', ANNOTATION);
  if (state === 'missing') return [required(path, reason)];
  return state === 'invalid' ? [invalid(path, annotationOf(crd), reason)] : [];
}

/** The condition that tells of the approval, undefined for groups that need none. */
export function approvalCondition(crd: Crd): CrdCondition | undefined {
  if (!isProtectedGroup(crd.group)) return undefined;
  const { state, reason } = approvalOf(crd);
  const label = { missing: 'Missing', invalid: 'Invalid', bypassed: 'Unapproved', approved: 'Approved' }[state];
  return {
    type: 'KubernetesAPIApprovalPolicyConformant',
    status: state === 'approved' ? 'True' : 'False',
    reason: `${label}Annotation`,
    message: reason,
  };
}
