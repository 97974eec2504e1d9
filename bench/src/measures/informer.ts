// Runs informer programs, ours and others', and reads the line of JSON they print.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BIG_NAMESPACE, inParallel, objectName } from '../load.ts';
import type { MeasureContext } from './measure.ts';

/** The program takes `--server --token --ns --kind --updates --ready-file`; it prints one line of JSON when it is done. */
export interface InformerProgram {
  readonly name: string;
  readonly command: readonly string[];
  readonly cwd?: string;
}

export interface InformerFigures {
  readonly sync_ms: number;
  readonly peak_rss_mib: number;
  readonly heap_bytes_per_object: number;
  readonly burst_cpu_s?: number;
  readonly events?: number;
  readonly stall_ms?: number;
  readonly parse_ms?: number;
}

const WRITERS = 16;

export interface UpdateLoad {
  readonly count: number;
  /** As fast as the server takes them when undefined. */
  readonly perSecond?: number | undefined;
}

/** Starts the program, waits until it is synced, writes updates, waits for its figures. */
export async function runInformer(
  { target, client, objects }: Pick<MeasureContext, 'target' | 'client' | 'objects'>,
  program: InformerProgram,
  { count, perSecond }: UpdateLoad,
): Promise<InformerFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'kube-rx-bench-'));
  const readyFile = join(folder, 'ready');
  const watcher = watch(folder);
  try {
    const ready = new Promise<void>((resolve) => {
      watcher.once('change', () => resolve());
    });
    const [file, ...args] = program.command;
    const child = spawn(
      file!,
      [
        ...args,
        ...['--server', target.url, '--token', target.token, '--ns', BIG_NAMESPACE, '--kind', 'configmap'],
        ...['--updates', String(count), '--ready-file', readyFile, '--tag', program.name],
      ],
      { stdio: ['ignore', 'pipe', 'inherit'], ...(program.cwd === undefined ? {} : { cwd: program.cwd }) },
    );
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const ended = new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) =>
        code === 0 ? resolve() : reject(new Error(`${program.name} ended with code ${code}`)),
      );
    });
    await Promise.race([ready, ended]);
    const startedAt = performance.now();
    await inParallel(0, count, WRITERS, async (index) => {
      if (perSecond !== undefined) await sleep(startedAt + (index * 1_000) / perSecond - performance.now());
      const stamp = String((performance.timeOrigin + performance.now()) * 1e6);
      const path = `/api/v1/namespaces/${BIG_NAMESPACE}/configmaps/${objectName(index % objects)}`;
      await client.call('PATCH', path, { data: { t: stamp } });
    });
    await ended;
    const line = output.trim().split('\n').at(-1)!;
    if (line === '') throw new Error(`${program.name} ended without its line of figures`);
    return JSON.parse(line) as InformerFigures;
  } finally {
    watcher.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
