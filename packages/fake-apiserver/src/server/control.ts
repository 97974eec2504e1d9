// Test control under /_fake/: compaction, state, clock, sliding windows. Needs the administrator's token.
import { type Clock, goJsonStringify, newBadRequest, newStatusError, VirtualClock } from '@kube-rx/apimachinery';
import type { HttpRequest, HttpResponse } from '../endpoints/http.ts';
import { readLimited } from '../endpoints/request-body.ts';
import { writeBytes } from '../endpoints/response-writers.ts';
import type { PathRegistry } from './path-registry.ts';

export interface ServerControls {
  /** Undefined compacts at the present revision. Resolves to the revision compacted at. */
  compact(revision?: number): Promise<number>;
  /** Empties the window of a resource's watch cache, so that older resource versions are too old. */
  slideWindow(resource: string): Promise<void> | void;
  /** Fills a resource's watch cache anew, as after it lost its place in etcd: every watch of it ends. */
  reinitialize(resource: string): Promise<void> | void;
  state(): unknown | Promise<unknown>;
  readonly clock: Clock;
}

const LIMIT_BYTES = 64 * 1024;

export function installControl(paths: PathRegistry, controls: ServerControls): void {
  paths.handle('/_fake/compact', async (request, response) => {
    const { revision: asked } = await readObject(request, 'POST');
    const wanted = asked === undefined || asked === '' ? undefined : Number(asked);
    if (wanted !== undefined && (!Number.isSafeInteger(wanted) || wanted < 0)) {
      throw newBadRequest('revision must be a decimal number');
    }
    const revision = await asBadRequest(() => controls.compact(wanted));
    await answer(request, response, { revision: String(revision) });
  });
  paths.handle('/_fake/state', async (request, response) => {
    requireMethod(request, ['GET']);
    await answer(request, response, await controls.state());
  });
  const onCache = (path: string, act: (resource: string) => Promise<void> | void): void =>
    paths.handle(path, async (request, response) => {
      const { resource } = await readObject(request, 'POST');
      if (typeof resource !== 'string' || resource === '') throw newBadRequest('resource must be a name like "pods"');
      await asBadRequest(() => act(resource));
      await answer(request, response, { resource });
    });
  onCache('/_fake/slide', (resource) => controls.slideWindow(resource));
  onCache('/_fake/reinitialize', (resource) => controls.reinitialize(resource));
  paths.handle('/_fake/clock', async (request, response) => {
    requireMethod(request, ['GET', 'POST']);
    if (request.method === 'POST') {
      const { advanceMs } = await readObject(request, 'POST');
      if (typeof advanceMs !== 'number' || !(advanceMs >= 0))
        throw newBadRequest('advanceMs must be a number of at least 0');
      if (!(controls.clock instanceof VirtualClock)) throw newBadRequest('the clock of this server is not virtual');
      await controls.clock.advance(advanceMs);
    }
    const virtual = controls.clock instanceof VirtualClock;
    await answer(request, response, { nowMs: controls.clock.now(), virtual });
  });
}

/** What a control refuses is the caller's mistake. */
async function asBadRequest<T>(run: () => T | Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw newBadRequest(error instanceof Error ? error.message : String(error));
  }
}

function requireMethod(request: HttpRequest, methods: readonly string[]): void {
  if (methods.includes(request.method)) return;
  throw newStatusError(405, 'MethodNotAllowed', `use ${methods.join(' or ')} here`, {});
}

async function readObject(request: HttpRequest, method: string): Promise<Readonly<Record<string, unknown>>> {
  requireMethod(request, [method]);
  const body = await readLimited(request, LIMIT_BYTES);
  if (body.length === 0) return {};
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Answered below.
  }
  throw newBadRequest('the body must be a JSON object');
}

function answer(request: HttpRequest, response: HttpResponse, value: unknown): Promise<void> {
  return writeBytes(request, response, 200, 'application/json', [Buffer.from(`${goJsonStringify(value, '  ')}\n`)]);
}
