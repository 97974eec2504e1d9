export * from './client-options.ts';
export * from './discovery-client.ts';
export type {
  DiscoveredGroup,
  DiscoveredResource,
  DiscoveredSubresource,
  DiscoveredVersion,
} from './discovery-parse.ts';
export * from './kube-client.ts';
export * from './patch.ts';
export * from './resource-client.ts';
export * from './resource-names.ts';
export * from './user-agent.ts';
export * from './warning-logger.ts';
export * from './watch-iterable.ts';
export * from './watch-observable.ts';
