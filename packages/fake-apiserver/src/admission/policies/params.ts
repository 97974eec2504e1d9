// The parameters a binding gives its policy.
// Upstream: apiserver@v0.30.3:pkg/admission/plugin/policy/generic/policy_dispatcher.go#CollectParams
import { bool, type Draft, dict, str } from '../../registry/draft.ts';
import { selectorMatches } from '../../registry/validation/labels.ts';
import { metadata } from '../../registry/validation/object-meta.ts';
import type { ApiObject } from '../../storage/api-object.ts';
import type { AdmissionAttributes } from '../admission.ts';

/** Objects of a kind in a namespace; undefined when the kind is not served. */
export type ParamFinder = (
  apiVersion: string,
  kind: string,
  signal: AbortSignal,
) => { readonly namespaced: boolean; list(namespace: string): Promise<readonly ApiObject[]> } | undefined;

/** `null` is a policy that runs without parameters. */
export type Params = { readonly found: readonly (Draft | null)[] } | { readonly problem: string };

export async function paramsOf(
  find: ParamFinder,
  policy: Draft,
  binding: Draft,
  attributes: AdmissionAttributes,
): Promise<Params> {
  const kind = dict(policy, 'spec', 'paramKind');
  const reference = dict(binding, 'spec', 'paramRef');
  if (kind === undefined || reference === undefined) return { found: [null] };
  const source = find(str(kind, 'apiVersion'), str(kind, 'kind'), attributes.request.signal);
  if (source === undefined) {
    return {
      problem: `paramKind kind \`&ParamKind{APIVersion:${str(kind, 'apiVersion')},Kind:${str(kind, 'kind')},}\` not known`,
    };
  }
  const namespace = source.namespaced ? str(reference, 'namespace') || attributes.namespace : '';
  if (source.namespaced && namespace === '')
    return { problem: 'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources' };
  const all = (await source.list(namespace)) as readonly unknown[] as readonly Draft[];
  const name = str(reference, 'name');
  const selector = dict(reference, 'selector');
  const found =
    name === ''
      ? all.filter((object) => selectorMatches(selector, dict(metadata(object), 'labels')))
      : all.filter((object) => str(metadata(object), 'name') === name);
  if (found.length > 0) return { found };
  if (str(reference, 'parameterNotFoundAction') === 'Allow' || bool(reference, 'optional')) return { found: [] };
  return { problem: 'no params found for policy binding with `Deny` parameterNotFoundAction' };
}
