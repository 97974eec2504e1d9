// The index at `/`: every path that answers, as people find it with a browser.
// Upstream: apiserver@v0.30.3:pkg/server/routes/index.go#IndexLister
import { goJsonStringify } from '@kube-rx/apimachinery';
import { writeBytes } from '../endpoints/response-writers.ts';
import type { ApiGroups } from './api-groups.ts';
import type { PathHandler, PathRegistry } from './path-registry.ts';

/** Paths of discovery: those of each group and of its versions. */
function discoveryPaths(groups: ApiGroups): readonly string[] {
  const found = ['/api', '/apis', '/apis/'];
  for (const { name, versions } of groups.all().values()) {
    const root = name === '' ? '/api' : `/apis/${name}`;
    found.push(root, ...versions.map(({ version }) => `${root}/${version}`));
  }
  return found;
}

/** Serves the index, whatever the method is. What only this server has is not in it. */
export function installRootPaths(paths: PathRegistry, groups: ApiGroups): void {
  const serve: PathHandler = async (request, response) => {
    const own = paths.paths().filter((path) => !path.startsWith('/_fake/'));
    const listed = [...new Set([...own, ...discoveryPaths(groups)])].sort();
    const text = goJsonStringify({ paths: listed }, '  ');
    return writeBytes(request, response, 200, 'application/json', [Buffer.from(text)]);
  };
  paths.handleUnlisted('/', serve);
  paths.handleUnlisted('/index.html', serve);
}
