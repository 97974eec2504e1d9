// What /version says, and the server's name in other places.
// Upstream: apimachinery@v0.30.3:pkg/version/types.go#Info
import { goJsonStringify } from '@kube-rx/apimachinery';
import { routerAccepts, routerNotAcceptable } from '../endpoints/negotiation.ts';
import { writeBytes } from '../endpoints/response-writers.ts';
import { methodNotAllowed } from '../endpoints/router-errors.ts';
import type { PathHandler, PathRegistry } from './path-registry.ts';

const BUILDS: Readonly<Record<string, { readonly commit: string; readonly date: string; readonly go: string }>> = {
  '1.30.3': { commit: '6fc0a69044f1ac4c13841ec4391224a2df241460', date: '2024-07-16T23:48:12Z', go: 'go1.22.5' },
};

const PRODUCES = ['application/json'];

/** `version` like `1.30.3`. */
export function versionDocument(version: string): unknown {
  const [major = '1', minor = ''] = version.split('.');
  const build = BUILDS[version] ?? { commit: '0'.repeat(40), date: '1970-01-01T00:00:00Z', go: 'go1.22.5' };
  return {
    major,
    minor,
    gitVersion: `v${version}`,
    gitCommit: build.commit,
    gitTreeState: 'clean',
    buildDate: build.date,
    goVersion: build.go,
    compiler: 'gc',
    platform: 'linux/amd64',
  };
}

export function installVersion(paths: PathRegistry, version: string): void {
  const bytes = Buffer.from(goJsonStringify(versionDocument(version), '  '));
  const serve: PathHandler = async (request, response) => {
    if (request.method !== 'GET') throw methodNotAllowed();
    if (!routerAccepts(request.header('accept'), PRODUCES)) throw routerNotAcceptable(PRODUCES);
    return writeBytes(request, response, 200, 'application/json', [bytes]);
  };
  paths.handle('/version', serve);
  paths.handleUnlisted('/version/', serve);
}
