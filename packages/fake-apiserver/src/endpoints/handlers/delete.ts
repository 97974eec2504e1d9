// DELETE of one object.
// Upstream: apiserver@v0.30.3:pkg/endpoints/handlers/delete.go#DeleteResource
import type { DeleteOptions, Status } from '@kube-rx/apimachinery';
import type { DeleteResult, ResourceInfo, ResourceStore } from '../../registry/rest.ts';
import { readDeleteOptions } from '../delete-options-body.ts';
import type { EndpointsContext, Exchange } from '../exchange.ts';
import { requireName } from '../naming.ts';
import { writeValue } from '../response-writers.ts';
import { negotiateFor, writeStored } from '../write-result.ts';

export async function handleDelete(server: EndpointsContext, exchange: Exchange, store: ResourceStore): Promise<void> {
  const { info, request, response, ctx } = exchange;
  const { namespace, name } = requireName(info);
  const negotiated = negotiateFor(exchange, store);
  const options = await readDeleteOptions(server, exchange);
  const result = await store.delete(ctx, { namespace, name, options });
  const code = deleteCode(result, options);
  if (!result.deleted || result.returnDeletedObject) {
    return writeStored(exchange, store, code, result.stored, negotiated);
  }
  await writeValue(request, response, code, successStatus(store.info, name, result), negotiated);
}

// Those who ask not to orphan dependents learn that the object is still there.
function deleteCode(result: DeleteResult, options: DeleteOptions): number {
  return !result.deleted && options.orphanDependents === false ? 202 : 200;
}

function successStatus(info: ResourceInfo, name: string, result: DeleteResult): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name,
      ...(info.group === '' ? {} : { group: info.group }),
      kind: info.resource,
      ...(result.stored.object.metadata.uid === undefined ? {} : { uid: result.stored.object.metadata.uid }),
    },
  };
}
