// Public surface on Node: everything, with axios, ws, kubeconfig files and credential plugins.

export {
  ConnectedClient,
  type CreateClientOptions,
  createClient,
  type ServerConfig,
  type TransportName,
} from './config/create-client.ts';
export { type InClusterOptions, inClusterConfig } from './config/in-cluster.ts';
export { type Kubeconfig, mergeKubeconfigs, parseKubeconfig } from './config/kubeconfig.ts';
export {
  type LoadKubeconfigOptions,
  loadKubeconfig,
  readKubeconfig,
  resolveContext,
} from './config/load-kubeconfig.ts';
export * from './core.ts';
export { type AxiosTransportOptions, createAxiosTransport } from './rest/axios-transport.ts';
export type { Http2TransportOptions } from './rest/http2-options.ts';
export { createHttp2Transport } from './rest/http2-transport.ts';
export type { TlsMaterial } from './rest/tls-material.ts';
export { createWsTransport, type WsTransportOptions } from './rest/ws-transport.ts';
