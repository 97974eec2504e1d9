// The parameters a binding gives its policy.
// Upstream: apiserver@v0.30.3:pkg/admission/plugin/policy/generic/policy_dispatcher.go#CollectParams
import { type Draft, dict, get, str } from '../../registry/draft.ts';
import { selectorMatches } from '../../registry/validation/labels.ts';
import { metadata } from '../../registry/validation/object-meta.ts';
import type { ApiObject } from '../../storage/api-object.ts';

/** A served kind that parameters are of. */
export interface ParamSource {
  readonly namespaced: boolean;
  list(namespace: string): Promise<readonly ApiObject[]>;
}

/** Undefined when the kind is not served. */
export type ParamFinder = (apiVersion: string, kind: string, signal: AbortSignal) => ParamSource | undefined;

/** `null` stands for a policy that runs without parameters. */
export type Params = { readonly found: readonly (Draft | null)[] } | { readonly problem: string };

/** As error texts name the kind of a policy's parameters. */
export function describeParamKind(kind: Draft): string {
  const apiVersion = str(kind, 'apiVersion');
  return `${apiVersion}, Kind=${str(kind, 'kind')}`;
}

export async function paramsOf(source: ParamSource | undefined, binding: Draft, namespace: string): Promise<Params> {
  const reference = dict(binding, 'spec', 'paramRef');
  if (source === undefined || reference === undefined) return { found: [null] };
  const home = str(reference, 'namespace');
  if (source.namespaced && home === '' && namespace === '')
    return { problem: 'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources' };
  if (!source.namespaced && home !== '')
    return { problem: 'paramRef.namespace must not be provided for a cluster-scoped `paramKind`' };
  const all = await source.list(source.namespaced ? home || namespace : '');
  const found = select(all as readonly unknown[] as readonly Draft[], reference);
  if (found.length === 0 && get(reference, 'parameterNotFoundAction') === 'Deny')
    return { problem: 'no params found for policy binding with `Deny` parameterNotFoundAction' };
  return { found };
}

function select(all: readonly Draft[], reference: Draft): readonly Draft[] {
  const name = str(reference, 'name');
  if (name !== '') return all.filter((object) => str(metadata(object), 'name') === name);
  const selector = dict(reference, 'selector');
  return all.filter((object) => selectorMatches(selector, dict(metadata(object), 'labels')));
}
