// @kube-rx/fake-apiserver: a Kubernetes API server in pure TypeScript with the real watch path.
export { FakeApiServerError, type FakeApiServerErrorCode, isListenFailed, isServerClosed } from './errors.ts';
export type { FakeApiServerOptions, ProfileName } from './options.ts';
export { FakeApiServer, startFakeApiServer } from './server/fake-api-server.ts';
