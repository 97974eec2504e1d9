// Binding: puts a pod on a node, once.
// Upstream: kubernetes@v1.30.3:pkg/registry/core/pod/storage/storage.go#BindingREST
import { newBadRequest, newConflict, newUnknownError, StatusError } from '@kube-rx/apimachinery';
import type { ApiObject } from '../../storage/api-object.ts';
import { StorageError } from '../../storage/errors.ts';
import { type Draft, dict, ensure, entries, has, list, put, str } from '../draft.ts';
import { interpretGetError, interpretUpdateError } from '../errors.ts';
import { asDraft } from '../resource-core.ts';
import type {
  RequestContext,
  ResourceInfo,
  SubresourceHandler,
  SubresourceInfo,
  VirtualResource,
  WriteCall,
} from '../rest.ts';
import type { Store } from '../store.ts';
import { formatTime } from '../time-form.ts';
import { metadata } from '../validation/object-meta.ts';
import { setPodCondition } from './pod-conditions.ts';
import { success } from './success.ts';

type Ref = { readonly namespace: string; readonly name: string };

/** @throws Error that is no StatusError, with the reason, when the pod cannot be bound */
function bindPod(pod: Draft, binding: Draft, now: string): void {
  const name = str(metadata(pod), 'name');
  if (has(metadata(pod), 'deletionTimestamp'))
    throw new Error(`pod ${name} is being deleted, cannot be assigned to a host`);
  const spec = ensure(pod, 'spec');
  const node = str(spec, 'nodeName');
  if (node !== '') throw new Error(`pod ${name} is already assigned to node ${JSON.stringify(node)}`);
  if (list(spec, 'schedulingGates').length > 0) throw new Error(`pod ${name} has non-empty .spec.schedulingGates`);
  put(spec, 'nodeName', str(dict(binding, 'target'), 'name'));
  for (const [key, value] of entries(metadata(binding), 'annotations'))
    put(ensure(metadata(pod), 'annotations'), key, value);
  setPodCondition(pod, { type: 'PodScheduled', status: 'True' }, now);
}

function validateTarget(binding: Draft): void {
  const target = dict(binding, 'target');
  const kind = str(target, 'kind');
  const problems: string[] = [];
  if (kind !== '' && kind !== 'Node')
    problems.push(`target.kind: Unsupported value: ${JSON.stringify(kind)}: supported values: "Node", "<empty>"`);
  if (str(target, 'name') === '') problems.push('target.name: Required value');
  if (problems.length > 0) throw newUnknownError(problems.length === 1 ? problems[0]! : `[${problems.join(', ')}]`);
}

async function bind(pods: Store, ctx: RequestContext, ref: Ref, body: ApiObject, call: WriteCall): Promise<ApiObject> {
  const binding = body as unknown as Draft;
  validateTarget(binding);
  const { uid, resourceVersion } = body.metadata;
  const { core, qualified } = pods;
  const key = pods.keyOf(ref.namespace, ref.name);
  const bound = (pod: ApiObject): ApiObject => {
    const draft = asDraft(pod);
    bindPod(draft, binding, formatTime(core.clock.now()));
    return core.canonical(draft);
  };
  try {
    if (call.dryRun) bound((await core.storage.get(key, { signal: ctx.signal })).object);
    else {
      await core.storage.guaranteedUpdate(
        key,
        (existing) => {
          if (existing === undefined) throw new StorageError({ code: 'KeyNotFound', key });
          return { object: bound(existing.object) };
        },
        {
          preconditions: { uid: uid || undefined, resourceVersion: resourceVersion || undefined },
          signal: ctx.signal,
        },
      );
    }
  } catch (error) {
    const known = interpretUpdateError(interpretGetError(error, qualified, ref.name), qualified, ref.name);
    if (known instanceof StatusError || !(known instanceof Error)) throw known;
    throw newConflict({ group: '', resource: 'pods/binding' }, ref.name, known.message);
  }
  return success(201);
}

/** `pods/NAME/binding` */
export class BindingHandler implements SubresourceHandler {
  readonly info: SubresourceInfo;
  readonly #pods: Store;

  constructor(pods: Store, info: SubresourceInfo) {
    this.info = info;
    this.#pods = pods;
  }

  async create(
    ctx: RequestContext,
    ref: Ref,
    body: ApiObject,
    call: WriteCall,
  ): Promise<{ readonly object: ApiObject; readonly status: number }> {
    if (body.metadata.name !== ref.name) throw newBadRequest('name in URL does not match name in Binding object');
    return { object: await bind(this.#pods, ctx, ref, body, call), status: 201 };
  }
}

/** `bindings`, the older way: the name is that of the body. */
export class BindingResource implements VirtualResource {
  readonly info: ResourceInfo;
  readonly #pods: Store;

  constructor(pods: Store, info: ResourceInfo) {
    this.info = info;
    this.#pods = pods;
  }

  create(ctx: RequestContext, body: ApiObject, call: WriteCall): Promise<ApiObject> {
    return bind(this.#pods, ctx, { namespace: call.namespace, name: body.metadata.name ?? '' }, body, call);
  }
}
