// The whole of it: server, informers, faults, verification, in one process over real sockets.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startFakeApiServer } from '@kube-rx/fake-apiserver';
import { createClient } from '@kube-rx/informer';
import { leakGuard } from '@kube-rx/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BoundaryEvent, Output, Summary } from '../src/events.ts';
import { parseOptions, UsageError } from '../src/options.ts';
import { run } from '../src/run.ts';

class Record implements Output {
  readonly events: BoundaryEvent[] = [];
  summary: Summary | undefined;
  readonly warnings: string[] = [];

  readonly #onEvent: (event: BoundaryEvent) => void;

  constructor(onEvent: (event: BoundaryEvent) => void) {
    this.#onEvent = onEvent;
  }

  tell(event: BoundaryEvent): void {
    this.events.push(event);
    this.#onEvent(event);
  }
  end(summary: Summary): void {
    this.summary = summary;
  }
  of<E extends BoundaryEvent['event']>(name: E): Extract<BoundaryEvent, { event: E }>[] {
    return this.events.filter((event): event is Extract<BoundaryEvent, { event: E }> => event.event === name);
  }
}

interface PlayOptions {
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: BoundaryEvent) => void;
}

async function play(argv: readonly string[], options: PlayOptions = {}): Promise<[number, Record]> {
  const { signal = new AbortController().signal, onEvent = () => {} } = options;
  const record = new Record(onEvent);
  const code = await run(parseOptions(argv)!, {
    output: record,
    onFleet: () => {},
    warn: (line) => record.warnings.push(line),
    signal,
    pauseMs: 20,
  });
  return [code, record];
}

describe('run', { timeout: 90_000 }, () => {
  let guard: ReturnType<typeof leakGuard>;
  let folder: string;
  beforeEach(() => {
    guard = leakGuard();
    folder = mkdtempSync(join(tmpdir(), 'boundary-'));
  });
  afterEach(async () => {
    rmSync(folder, { recursive: true });
    await guard.check();
  });

  it('recovers from a 410 of every origin and ends with caches that equal the server', async () => {
    const controller = new AbortController();
    const origins = new Set<string>();
    const onEvent = (event: BoundaryEvent): void => {
      if (event.event === 'saw' && event.origin !== undefined) origins.add(event.origin);
      if (event.event === 'recovered' && origins.size === 3) controller.abort();
    };
    const [code, record] = await play(['--seconds', '60'], { signal: controller.signal, onEvent });
    expect(record.of('not-recovered')).toEqual([]);
    expect(record.of('problem')).toEqual([]);
    expect(record.summary).toMatchObject({ consistent: true, manifestProblems: 0 });
    expect(code).toBe(0);
    expect(record.summary!.informers).toBeGreaterThanOrEqual(10);
    const { goneByOrigin, gone } = record.summary!;
    for (const origin of ['window', 'compaction', 'restart'] as const) expect(goneByOrigin[origin]).toBeGreaterThan(0);
    expect(gone).toBe(goneByOrigin.window + goneByOrigin.compaction + goneByOrigin.restart);
    const messages = record.of('saw').flatMap(({ code: status, message }) => (status === 410 ? [message] : []));
    expect(messages).toContainEqual(expect.stringMatching(/^too old resource version: \d+ \(\d+\)$/));
    expect(messages).toContain('The resourceVersion for the provided watch is too old.');
    expect(messages).toContainEqual(expect.stringMatching(/^The provided continue parameter is too old/));
  });

  it('loads what it can, names what it cannot, and says so with its exit code', async () => {
    const file = join(folder, 'mixed.yaml');
    writeFileSync(
      file,
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: fine}\n---\nkind: [x\n---\napiVersion: v1\nkind: Nothing\nmetadata: {name: a}\n',
    );
    const [code, record] = await play(['--seconds', '0.5', '--manifests', file, '--kinds', 'configmaps']);
    expect(code).toBe(1);
    expect(record.summary).toMatchObject({ consistent: true, informers: 1, manifestProblems: 2 });
    expect(record.warnings).toEqual([
      expect.stringMatching(/mixed\.yaml: document 2, line \d+: not YAML: /),
      expect.stringMatching(/mixed\.yaml: document 3, line 7: the server has no kind Nothing in v1$/),
    ]);
    expect(record.of('loaded')[0]).toMatchObject({ objects: 1, problems: 2 });
  });

  it('watches a cluster that exists and writes nothing to it', async () => {
    await using server = await startFakeApiServer({ insecure: true });
    const client = createClient({ server: server.url, token: server.token });
    const namespaces = client.resource(await client.discovery.findKind('v1', 'Namespace'));
    await namespaces.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
    const { resourceVersion } = await namespaces.list();
    const [code, record] = await play(['--server', server.url, '--token', server.token, '--seconds', '0.5']);
    expect(code).toBe(0);
    expect(record.summary).toMatchObject({ consistent: true, gone: 0 });
    expect(record.of('synced').map(({ kind }) => kind)).toContain('namespaces');
    expect((await namespaces.list()).resourceVersion).toBe(resourceVersion);
    client.close();
  });

  it('ends early when it is interrupted, with the verification', async () => {
    const controller = new AbortController();
    const onEvent = ({ event }: BoundaryEvent): void => {
      if (event === 'fault') controller.abort();
    };
    const [code, record] = await play([], { signal: controller.signal, onEvent });
    expect(record.summary).toMatchObject({ consistent: true });
    expect(code).toBe(0);
  });

  it('says in one line that the port is in use, or the server not there', async () => {
    const holder: Server = createServer();
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
    const { port } = holder.address() as { port: number };
    await expect(play(['--port', String(port)])).rejects.toThrow(
      new UsageError(`cannot use port ${port}: it is in use`),
    );
    await new Promise((resolve) => holder.close(resolve));
    await expect(play(['--server', `http://127.0.0.1:${port}`])).rejects.toThrow(/^cannot reach http:/);
  });
});
