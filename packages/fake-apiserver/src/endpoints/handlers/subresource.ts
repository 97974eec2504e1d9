// Subresources: `status` and its like share the object of their parent, others have a kind and a handler of their own.
// Upstream: apiserver@v0.30.3:pkg/endpoints/installer.go#registerResourceHandlers
import { newBadRequest, newUnknownError } from '@kube-rx/apimachinery';
import type { ResourceInfo, ResourceStore, SubresourceHandler, SubresourceInfo } from '../../registry/rest.ts';
import type { ApiObject } from '../../storage/api-object.ts';
import type { EndpointsContext, Exchange } from '../exchange.ts';
import { MAX_BODY_BYTES } from '../exchange.ts';
import { checkName, ensureNamespace, requireName } from '../naming.ts';
import { negotiateOutput } from '../negotiation.ts';
import { preparePatch } from '../patch-apply.ts';
import { inputMediaType, readLimited } from '../request-body.ts';
import { writeBytes, writeValue } from '../response-writers.ts';
import { methodNotAllowed } from '../router-errors.ts';
import { decodeWriteOptions, managerOrUserAgent } from '../write-options-codec.ts';
import { handleGet } from './get.ts';
import { answering, handlePatch, patchTypeOf } from './patch.ts';
import { handleUpdate } from './update.ts';

const METHOD_BY_VERB: Readonly<Record<string, readonly string[]>> = {
  get: ['GET'],
  create: ['POST'],
  update: ['PUT'],
  patch: ['PATCH'],
  delete: ['DELETE'],
};

/** Methods a subresource has; none when the resource has no such subresource. */
export function subresourceMethods(store: ResourceStore, name: string): readonly string[] {
  const found = store.info.subresources.find((one) => one.name === name);
  return (found?.verbs ?? []).flatMap((verb) => METHOD_BY_VERB[verb] ?? []);
}

export async function handleSubresource(
  server: EndpointsContext,
  exchange: Exchange,
  store: ResourceStore,
  name: string,
): Promise<void> {
  const { group, version, resource } = store.info;
  const handler = server.catalog.findSubresource(group, version, resource, name);
  const { method } = exchange.request;
  if (handler === undefined) {
    if (method === 'GET') return handleGet(exchange, store);
    if (method === 'PUT') return handleUpdate(server, exchange, store, name);
    if (method === 'PATCH') return handlePatch(server, exchange, store, name);
    throw methodNotAllowed();
  }
  return handleOwnKind(server, exchange, store, handler);
}

async function handleOwnKind(
  server: EndpointsContext,
  exchange: Exchange,
  store: ResourceStore,
  handler: SubresourceHandler,
): Promise<void> {
  const { info, request, ctx } = exchange;
  const ref = requireName(info);
  const negotiated = negotiateOutput(request.header('accept'), { protobuf: 'all', transforms: true });
  const answer = (code: number, object: unknown): Promise<void> =>
    writeValue(request, exchange.response, code, object, { ...negotiated, target: undefined });
  // Nothing is decoded of what goes on to a kubelet.
  const connects = CONNECT_OPTIONS.test(handler.info.kind);
  if ((connects || request.method === 'GET') && handler.get !== undefined) {
    return answer(200, await handler.get(ctx, ref));
  }
  if (request.method === 'GET' && handler.text !== undefined) {
    const text = await handler.text(ctx, ref, request.query);
    if (text === '') return exchange.response.send(204, []);
    return writeBytes(request, exchange.response, 200, 'text/plain', [Buffer.from(text)]);
  }
  const view = viewOf(server, store, handler.info);
  if (request.method === 'POST' && handler.create !== undefined) {
    const mediaType = inputMediaType(request, view.info);
    const body = await readLimited(request, MAX_BODY_BYTES);
    const options = decodeWriteOptions(request.query, 'CreateOptions');
    const decoded = server.decoder.decode(body, mediaType, view, options.fieldValidation, ctx);
    const object = ensureNamespace(decoded, ref.namespace);
    const own = object.metadata.name ?? '';
    if (own !== '' && own !== ref.name && handler.info.kind === 'Eviction') {
      throw newBadRequest(`name in URL does not match name in Eviction object`);
    }
    const result = await handler.create(ctx, ref, object, { namespace: ref.namespace, dryRun: options.dryRun });
    return answer(result.status, result.object);
  }
  if (handler.update === undefined) throw methodNotAllowed();
  const kind = request.method === 'PUT' ? 'UpdateOptions' : 'PatchOptions';
  const type = request.method === 'PATCH' ? patchTypeOf(request.header('content-type'), store) : undefined;
  const body = await readLimited(request, MAX_BODY_BYTES);
  const options = decodeWriteOptions(request.query, kind, type === 'application/apply-patch+yaml');
  const manager = managerOrUserAgent(options.fieldManager, request.header('user-agent') ?? '');
  const subresource = handler.info.name;
  let transform: (existing: ApiObject) => ApiObject;
  if (type === undefined) {
    const mediaType = inputMediaType(request, view.info);
    const object = server.decoder.decode(body, mediaType, view, options.fieldValidation, ctx);
    checkName(object, ref.name);
    const placed = ensureNamespace(object, ref.namespace);
    transform = (existing) => server.fieldManagers.update(view, existing, placed, manager, subresource);
  } else {
    const context = { manager, subresource, warn: ctx.warn };
    const patch = answering(() => preparePatch(server, view, type, body, options, context));
    transform = (existing) => {
      const patched = answering(() => patch(existing));
      if (store.info.custom && type === 'application/apply-patch+yaml') throw unconvertible(view, ref.name);
      checkName(patched, ref.name);
      return ensureNamespace(patched, ref.namespace);
    };
  }
  return answer(200, await handler.update(ctx, ref, transform, { namespace: ref.namespace, dryRun: options.dryRun }));
}

/** Upstream's converter of custom resources refuses what an apply made, for it knows the versions of the definition only. */
function unconvertible({ info }: ResourceStore, name: string): Error {
  const gv = `${info.group}/${info.version}`;
  return newUnknownError(
    `failed to convert new object (/${name}; ${gv}, Kind=${info.kind}) to proper version: request to convert CR to an invalid group/version: ${gv}`,
  );
}

const CONNECT_OPTIONS = /^(Pod|Node|Service)(Exec|Attach|PortForward|Proxy)Options$/;

/** The parent's store with the facts of the subresource's kind, for decoding and patching. */
function viewOf(server: EndpointsContext, store: ResourceStore, sub: SubresourceInfo): ResourceStore {
  const group = sub.group;
  const info: ResourceInfo = {
    ...store.info,
    group,
    version: sub.version,
    kind: sub.kind,
    schema: server.decoder.schemaOf(group, sub.version, sub.kind),
    custom: false,
  };
  return Object.create(store, {
    info: { value: info },
    decodeCustom: { value: undefined },
    applyDefaults: { value: (object: ApiObject) => object },
  });
}
