// Public surface on Node: everything, with axios, ws, kubeconfig files and credential plugins.

export { ConnectedClient, type CreateClientOptions, createClient, type ServerConfig } from './config/create-client.ts';
export { type InClusterOptions, inClusterConfig } from './config/in-cluster.ts';
export { type Kubeconfig, mergeKubeconfigs, parseKubeconfig } from './config/kubeconfig.ts';
export {
  type LoadKubeconfigOptions,
  loadKubeconfig,
  readKubeconfig,
  resolveContext,
} from './config/load-kubeconfig.ts';
export * from './core.ts';
export { type AxiosTransportOptions, createAxiosTransport, type TlsMaterial } from './rest/axios-transport.ts';
export { createWsTransport, type WsTransportOptions } from './rest/ws-transport.ts';
