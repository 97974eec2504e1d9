// What stands before and after the items of a list.
import { goJsonStringify } from '@kube-rx/apimachinery';

/** Custom lists are maps upstream, with sorted keys: kind and metadata come after the items. */
export function listHead(
  kind: string,
  apiVersion: string,
  metadata: Readonly<Record<string, unknown>>,
  custom: boolean,
): Buffer {
  if (custom) return Buffer.from(`{"apiVersion":${goJsonStringify(apiVersion)},"items":[`);
  return Buffer.from(
    `{"kind":${goJsonStringify(kind)},"apiVersion":${goJsonStringify(apiVersion)},"metadata":${goJsonStringify(metadata)},"items":[`,
  );
}

export function listTail(
  custom: { readonly kind: string; readonly metadata: Readonly<Record<string, unknown>> } | undefined,
): Buffer {
  if (custom === undefined) return Buffer.from(']}');
  return Buffer.from(`],"kind":${goJsonStringify(custom.kind)},"metadata":${goJsonStringify(custom.metadata)}}`);
}

/** Lists whose items Go leaves out when there are none. */
const OMITS_EMPTY = new Set(['ValidatingAdmissionPolicyList', 'ValidatingAdmissionPolicyBindingList']);

/** The whole of an empty list that shows no items; undefined for all others. */
export function emptyList(
  kind: string,
  apiVersion: string,
  metadata: Readonly<Record<string, unknown>>,
): Buffer | undefined {
  return OMITS_EMPTY.has(kind) ? Buffer.from(goJsonStringify({ kind, apiVersion, metadata })) : undefined;
}
