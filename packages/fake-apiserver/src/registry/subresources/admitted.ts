// Lets admission see requests to subresources that are a kind of their own: evictions, bindings, tokens, and what would go on to a
// kubelet.
// Upstream: apiserver@v0.30.3:pkg/endpoints/handlers/{create,rest}.go#createHandler, ConnectResource
// Differs: connects show admission the kind of their options only.
import type { Draft } from '../draft.ts';
import { asDraft } from '../resource-core.ts';
import type { RequestContext, SubresourceHandler, WriteCall } from '../rest.ts';
import type { Store } from '../store.ts';

type Ref = { readonly namespace: string; readonly name: string };

const CONNECTS: ReadonlySet<string> = new Set(['exec', 'attach', 'portforward', 'proxy']);

/** The same handler, behind admission. */
export function admitted(store: Store, handler: SubresourceHandler): SubresourceHandler {
  const { info } = handler;
  const { group, version, kind } = info;
  const check = async (
    ctx: RequestContext,
    ref: Ref,
    operation: 'CREATE' | 'CONNECT',
    object: Draft,
    call: WriteCall,
  ): Promise<void> => {
    const base = store.admissionAttributes(ctx, call, ref.name, info.name);
    const attributes = { ...base, kind: { group, version, kind }, operation, object, old: undefined };
    await store.core.admission.admit(attributes);
    await store.core.admission.validate(attributes);
  };
  const { get, create, text, update } = handler;
  return {
    info,
    ...(get === undefined
      ? {}
      : {
          get: async (ctx, ref) => {
            const options = { apiVersion: group === '' ? version : `${group}/${version}`, kind };
            const call = { namespace: ref.namespace, dryRun: false };
            if (CONNECTS.has(info.name)) await check(ctx, ref, 'CONNECT', options, call);
            return get.call(handler, ctx, ref);
          },
        }),
    ...(create === undefined
      ? {}
      : {
          create: async (ctx, ref, body, call) => {
            await check(ctx, ref, 'CREATE', asDraft(body), call);
            return create.call(handler, ctx, ref, body, call);
          },
        }),
    ...(text === undefined ? {} : { text: text.bind(handler) }),
    ...(update === undefined ? {} : { update: update.bind(handler) }),
  };
}
