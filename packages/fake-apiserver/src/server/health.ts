// /healthz, /livez and /readyz with their verbose and single-check forms.
// Upstream: apiserver@v0.30.3:pkg/server/healthz/healthz.go
import type { HttpRequest, HttpResponse } from '../endpoints/http.ts';
import { writeText } from '../endpoints/response-writers.ts';
import type { PathRegistry } from './path-registry.ts';

export interface HealthCheck {
  readonly name: string;
  /** Throws, or resolves to false, when something is wrong. */
  check(): boolean | Promise<boolean>;
}

const HOOKS = [
  'start-apiserver-admission-initializer',
  'generic-apiserver-start-informers',
  'priority-and-fairness-config-consumer',
  'priority-and-fairness-filter',
  'storage-object-count-tracker-hook',
  'start-apiextensions-informers',
  'start-apiextensions-controllers',
  'crd-informer-synced',
  'start-service-ip-repair-controllers',
  'rbac/bootstrap-roles',
  'scheduling/bootstrap-system-priority-classes',
  'priority-and-fairness-config-producer',
  'start-system-namespaces-controller',
  'bootstrap-controller',
  'start-cluster-authentication-info-controller',
  'start-kube-apiserver-identity-lease-controller',
  'start-kube-apiserver-identity-lease-garbage-collector',
  'start-legacy-token-tracking-controller',
  'aggregator-reload-proxy-client-cert',
  'start-kube-aggregator-informers',
  'apiservice-registration-controller',
  'apiservice-status-available-controller',
  'kube-apiserver-autoregistration',
].map((name) => `poststarthook/${name}`);

const always = (name: string): HealthCheck => ({ name, check: () => true });

/** The checks of a real server under their names; those that mean something here are given by the caller. */
export function installHealth(paths: PathRegistry, etcd: HealthCheck, ready: HealthCheck): void {
  const tail = [
    ...HOOKS.map(always),
    always('autoregister-completion'),
    always('poststarthook/apiservice-openapi-controller'),
    always('poststarthook/apiservice-openapiv3-controller'),
    always('poststarthook/apiservice-discovery-controller'),
  ];
  const live = [always('ping'), always('log'), etcd, ...tail];
  const readiness = { ...etcd, name: 'etcd-readiness' };
  const informers = { ...ready, name: 'informer-sync' };
  const shutdown = { ...ready, name: 'shutdown' };
  install(paths, 'healthz', live);
  install(paths, 'livez', live);
  install(paths, 'readyz', [always('ping'), always('log'), etcd, readiness, informers, ...tail, shutdown]);
}

function install(paths: PathRegistry, name: string, checks: readonly HealthCheck[]): void {
  paths.handle(`/${name}`, (request, response) => serveAll(request, response, name, checks));
  for (const check of checks) paths.list(`/${name}/${check.name}`);
  paths.handlePrefix(`/${name}/`, async (request, response) => {
    const wanted = request.path.slice(name.length + 2);
    const found = checks.find((check) => check.name === wanted);
    if (found === undefined) return writeText(response, 404, '404 page not found\n');
    response.setHeader('content-type', 'text/plain; charset=utf-8');
    if (await passes(found)) return response.send(200, [Buffer.from('ok')]);
    return writeText(response, 500, 'internal server error: reason withheld\n');
  });
}

async function passes(check: HealthCheck): Promise<boolean> {
  try {
    return await check.check();
  } catch {
    return false;
  }
}

async function serveAll(
  request: HttpRequest,
  response: HttpResponse,
  name: string,
  checks: readonly HealthCheck[],
): Promise<void> {
  const excluded = new Set(request.query.all('exclude'));
  const lines: string[] = [];
  const failed: string[] = [];
  for (const check of checks) {
    if (excluded.delete(check.name)) lines.push(`[+]${check.name} excluded: ok`);
    else if (await passes(check)) lines.push(`[+]${check.name} ok`);
    else {
      failed.push(check.name);
      lines.push(`[-]${check.name} failed: reason withheld`);
    }
  }
  if (excluded.size > 0) {
    const names = [...excluded].map((one) => `"${one}"`).join(', ');
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`);
  }
  if (failed.length > 0) return writeText(response, 500, `${lines.join('\n')}\n${name} check failed\n`);
  if (!request.query.has('verbose')) return writeText(response, 200, 'ok');
  return writeText(response, 200, `${lines.join('\n')}\n${name} check passed\n`);
}
