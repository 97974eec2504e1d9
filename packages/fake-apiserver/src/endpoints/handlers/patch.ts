// PATCH of an object: which patch it is, where it is applied, and how its failures are answered.
// Upstream: apiserver@v0.30.3:pkg/endpoints/handlers/patch.go#PatchResource
import {
  newBadRequest,
  newConflict,
  newNotFound,
  newRequestEntityTooLarge,
  newStatusError,
  newUnknownError,
} from '@kube-rx/apimachinery';
import { PatchError } from '../../patch/patch-error.ts';
import type { ResourceStore } from '../../registry/rest.ts';
import type { ApiObject } from '../../storage/api-object.ts';
import type { EndpointsContext, Exchange } from '../exchange.ts';
import { MAX_BODY_BYTES } from '../exchange.ts';
import { checkName, ensureNamespace, requireName } from '../naming.ts';
import { unsupportedMediaType } from '../negotiation.ts';
import { type PatchType, patchTypesOf, preparePatch } from '../patch-apply.ts';
import { parseMediaType, readLimited } from '../request-body.ts';
import { decodeWriteOptions, managerOrUserAgent } from '../write-options-codec.ts';
import { negotiateFor, writeStored } from '../write-result.ts';

export async function handlePatch(
  server: EndpointsContext,
  exchange: Exchange,
  store: ResourceStore,
  subresource: string,
): Promise<void> {
  const { info, request, ctx } = exchange;
  const type = patchTypeOf(request.header('content-type'), store);
  const { namespace, name } = requireName(info);
  const negotiated = negotiateFor(exchange, store);
  const body = await readLimited(request, MAX_BODY_BYTES);
  const apply = type === 'application/apply-patch+yaml';
  const options = decodeWriteOptions(request.query, 'PatchOptions', apply);
  const manager = managerOrUserAgent(options.fieldManager, request.header('user-agent') ?? '');
  const patch = answering(() =>
    preparePatch(server, store, type, body, options, { manager, subresource, warn: ctx.warn }),
  );
  const result = await store.update(ctx, {
    namespace,
    name,
    subresource,
    dryRun: options.dryRun,
    forceAllowCreate: apply,
    transform: (existing) => {
      // Also of a kind that an update may create: only an apply makes something out of nothing.
      if (existing === undefined && !apply) throw newNotFound(store.info, name);
      const patched = answering(() => patch(existing));
      if (existing === undefined) refuseUid(store, patched, name);
      checkName(patched, name);
      return ensureNamespace(patched, namespace);
    },
  });
  await writeStored(exchange, store, result.created ? 201 : 200, result.stored, negotiated);
}

export function patchTypeOf(header: string | undefined, store: ResourceStore): PatchType {
  const types = patchTypesOf(store.info.custom);
  const found = types.find((known) => known === parseMediaType(header ?? ''));
  if (found !== undefined) return found;
  throw unsupportedMediaType(types);
}

// An object that is to be created cannot have been seen before.
function refuseUid(store: ResourceStore, object: ApiObject, name: string): void {
  const { uid } = object.metadata;
  if (uid === undefined || uid === '') return;
  const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
  throw newConflict({ group: store.info.group, resource: store.info.resource }, name, why);
}

/** Runs a step of patching and turns its failures into the answers they deserve. */
export function answering<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    switch (error.kind) {
      case 'bad-request':
        throw newBadRequest(error.message);
      case 'too-large':
        throw newRequestEntityTooLarge(error.message);
      case 'unprocessable': {
        const sentence = 'the server rejected our request due to an error in our request';
        throw newStatusError(422, 'Invalid', sentence, {});
      }
      case 'unknown':
        throw newUnknownError(error.message);
    }
  }
}
