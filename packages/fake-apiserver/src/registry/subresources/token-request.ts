// TokenRequest: a signed token for a service account.
// Upstream: kubernetes@v1.30.3:pkg/registry/core/serviceaccount/storage/token.go
import { newBadRequest, newConflict, newInvalid } from '@kube-rx/apimachinery';
import type { ApiObject } from '../../storage/api-object.ts';
import { clone, type Draft, dict, ensure, num, put, setDefault, str, strings } from '../draft.ts';
import type { RequestContext, SubresourceHandler, SubresourceInfo } from '../rest.ts';
import type { Store } from '../store.ts';
import { formatTime } from '../time-form.ts';
import { FieldErrors, path } from '../validation/field-errors.ts';
import { metadata } from '../validation/object-meta.ts';
import type { ServiceAccountTokens, TokenSubject } from './service-account-tokens.ts';

type Ref = { readonly namespace: string; readonly name: string };

const KIND = { group: 'authentication.k8s.io', kind: 'TokenRequest' };
const DEFAULT_SECONDS = 3600;
const MIN_SECONDS = 600;
const MAX_SECONDS = 2 ** 32;
const EXPIRATION = path('spec', 'expirationSeconds');

export interface TokenRequestStores {
  readonly accounts: Store;
  readonly pods: Store;
  readonly secrets: Store;
  readonly nodes: Store;
  /** Brings a TokenRequest into the form its type prints. */
  shape(object: Draft): ApiObject;
}

export class TokenRequestHandler implements SubresourceHandler {
  readonly info: SubresourceInfo;
  readonly #stores: TokenRequestStores;
  readonly #tokens: ServiceAccountTokens;

  constructor(stores: TokenRequestStores, tokens: ServiceAccountTokens, info: SubresourceInfo) {
    this.info = info;
    this.#stores = stores;
    this.#tokens = tokens;
  }

  async create(
    ctx: RequestContext,
    ref: Ref,
    body: ApiObject,
  ): Promise<{ readonly object: ApiObject; readonly status: number }> {
    const request = clone(body) as unknown as Draft;
    const meta = metadata(request);
    this.#matchPlace(meta, ref);
    const account = await this.#stores.accounts.get(ctx, { ...ref, resourceVersion: '' });
    const spec = ensure(request, 'spec');
    setDefault(spec, 'expirationSeconds', DEFAULT_SECONDS);
    const audiences = strings(spec, 'audiences');
    if (audiences.length === 0) put(spec, 'audiences', [this.#tokens.issuer]);
    const { clock } = this.#stores.accounts.core;
    put(request, 'metadata', { ...meta, ...ref, creationTimestamp: formatTime(clock.now()) });
    const seconds = this.#life(spec);
    const bound = await this.#boundObject(ctx, ref, dict(spec, 'boundObjectRef'));
    const { uid = '' } = account.object.metadata;
    const issued = this.#tokens.issue({ ...ref, uid, bound }, audiences, seconds);
    put(request, 'status', { token: issued.token, expirationTimestamp: formatTime(issued.expiresMs) });
    return { object: this.#stores.shape(request), status: 201 };
  }

  #matchPlace(meta: Draft, ref: Ref): void {
    const errors = new FieldErrors();
    const name = str(meta, 'name');
    const namespace = str(meta, 'namespace');
    if (name !== '' && name !== ref.name)
      errors.invalid(path('metadata', 'name'), name, 'must match the service account name if specified');
    else if (namespace !== '' && namespace !== ref.namespace)
      errors.invalid(path('metadata', 'namespace'), namespace, 'must match the service account namespace if specified');
    if (!errors.empty) throw newInvalid(KIND, ref.name, errors.causes);
  }

  #life(spec: Draft): number {
    const seconds = num(spec, 'expirationSeconds') ?? 0;
    const errors = new FieldErrors();
    if (seconds < MIN_SECONDS) errors.invalid(EXPIRATION, seconds, 'may not specify a duration less than 10 minutes');
    if (seconds > MAX_SECONDS)
      errors.invalid(EXPIRATION, seconds, 'may not specify a duration larger than 2^32 seconds');
    if (!errors.empty) throw newInvalid(KIND, '', errors.causes);
    return seconds;
  }

  async #boundObject(ctx: RequestContext, ref: Ref, bound: Draft | undefined): Promise<TokenSubject['bound']> {
    if (bound === undefined) return undefined;
    const [kind, name, apiVersion] = [str(bound, 'kind'), str(bound, 'name'), str(bound, 'apiVersion')];
    const { pods, secrets, nodes } = this.#stores;
    const store = new Map([
      ['Pod', pods],
      ['Secret', secrets],
      ['Node', nodes],
    ]).get(kind);
    if (store === undefined || apiVersion.includes('/')) {
      const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
      throw newBadRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
    }
    if (store === nodes) {
      throw newBadRequest(
        'cannot bind token to a Node object as the "ServiceAccountTokenNodeBinding" feature-gate is disabled',
      );
    }
    const { object } = await store.get(ctx, { namespace: ref.namespace, name, resourceVersion: '' });
    const account = str(dict(object as unknown as Draft, 'spec'), 'serviceAccountName');
    if (store === pods && account !== ref.name) {
      throw newBadRequest(
        `cannot bind token for serviceaccount "${ref.name}" to pod running with different serviceaccount name.`,
      );
    }
    const uid = object.metadata.uid ?? '';
    const asked = str(bound, 'uid');
    if (asked !== '' && asked !== uid) {
      const why = `the UID in the bound object reference (${asked}) does not match the UID in record. The object might have been deleted and then recreated`;
      throw newConflict({ group: '', resource: kind }, name, why);
    }
    return { kind, name, uid };
  }
}
