// Puts the subresources with a kind of their own, and the kinds that are never stored, into the catalog.
// Upstream: kubernetes@v1.30.3:pkg/registry/core/rest/storage_core.go and its siblings
import type { Clock } from '@kube-rx/apimachinery';
import type { ApiObject } from '../storage/api-object.ts';
import type { Draft } from './draft.ts';
import type { AccessAuthorizer } from './rbac/attributes.ts';
import type { ServedResource } from './resources.ts';
import type { ResourceInfo, SubresourceHandler, SubresourceInfo, VirtualResource } from './rest.ts';
import type { Store } from './store.ts';
import { admitted } from './subresources/admitted.ts';
import { BindingHandler, BindingResource } from './subresources/binding.ts';
import { ConnectHandler, LogHandler } from './subresources/connect.ts';
import { EvictionHandler, type EvictionStores } from './subresources/eviction.ts';
import { ScaleHandler } from './subresources/scale.ts';
import type { ServiceAccountTokens } from './subresources/service-account-tokens.ts';
import { TokenRequestHandler } from './subresources/token-request.ts';
import { AccessReview } from './virtual/access-reviews.ts';
import {
  type RuleResolver,
  RulesReview,
  SelfReview,
  type TokenReader,
  TokenReview,
} from './virtual/identity-reviews.ts';

export interface InstallContext {
  /** By `GROUP/VERSION/RESOURCE`. */
  readonly store: (path: string) => Store;
  readonly tokens: ServiceAccountTokens;
  readonly clock: Clock;
  readonly authorizer: () => AccessAuthorizer;
  readonly readToken: () => TokenReader;
  readonly rulesFor: () => RuleResolver;
  readonly list: EvictionStores['list'];
  /** Brings an object into the form its type prints, with apiVersion and kind. */
  readonly shape: (group: string, version: string, kind: string) => (object: Draft) => ApiObject;
}

const CONNECT = new Set(['exec', 'attach', 'portforward', 'proxy']);

function handlerOf(context: InstallContext, store: Store, info: SubresourceInfo): SubresourceHandler | undefined {
  const { store: at, tokens, shape } = context;
  const pods = store.info.group === '' && store.info.resource === 'pods';
  switch (info.name) {
    case 'scale':
      return new ScaleHandler(store, info);
    case 'binding':
      return new BindingHandler(store, info);
    case 'eviction':
      return new EvictionHandler(
        { pods: store, budgets: at('policy/v1/poddisruptionbudgets'), list: context.list },
        info,
      );
    case 'log':
      return new LogHandler(store, info);
    case 'token':
      return new TokenRequestHandler(
        {
          accounts: store,
          pods: at('/v1/pods'),
          secrets: at('/v1/secrets'),
          nodes: at('/v1/nodes'),
          shape: shape('authentication.k8s.io', 'v1', 'TokenRequest'),
        },
        tokens,
        info,
      );
    default:
      return CONNECT.has(info.name) && (pods || info.name === 'proxy')
        ? new ConnectHandler(store, info, at('/v1/nodes'))
        : undefined;
  }
}

/** Handlers of the subresources that are not the parent's object; `status` and its like have none. */
export function subresourcesOf(context: InstallContext, store: Store): readonly SubresourceHandler[] {
  return store.info.subresources.flatMap((info) => {
    const handler = handlerOf(context, store, info);
    return handler === undefined ? [] : [admitted(store, handler)];
  });
}

/** Undefined for a kind that is listed but cannot be created. */
export function virtualResource(
  context: InstallContext,
  served: ServedResource,
  info: ResourceInfo,
): VirtualResource | undefined {
  const { group, version, data } = served;
  const shape = context.shape(group, version, data.kind);
  switch (data.kind) {
    case 'Binding':
      return new BindingResource(context.store('/v1/pods'), info);
    case 'SubjectAccessReview':
    case 'SelfSubjectAccessReview':
    case 'LocalSubjectAccessReview':
      return new AccessReview(info, context.authorizer, shape);
    case 'SelfSubjectRulesReview':
      return new RulesReview(info, context.rulesFor, shape);
    case 'SelfSubjectReview':
      return new SelfReview(info, context.clock, shape);
    case 'TokenReview':
      return new TokenReview(info, context.readToken, context.tokens.issuer, shape);
    default:
      return undefined;
  }
}
