import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { newInternalError, settle, VirtualClock } from '@kube-rx/apimachinery';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { list, ScriptedListerWatcher } from '../test/support/scripted-lister-watcher.ts';

const NAMES = ['list', 'watch', 'replace', 'fault'] as const;

describe('what can be seen from outside', () => {
  let lines: string[];
  let published: string[];
  const listeners = NAMES.map((name) => (message: unknown): void => {
    const { resource, resourceVersion, kind, items } = message as Record<string, unknown>;
    published.push([name, resource, resourceVersion, kind ?? items].filter((each) => each !== undefined).join(' '));
  });

  beforeEach(() => {
    lines = [];
    published = [];
    NAMES.forEach((name, index) => void subscribe(`kube-rx:informer:${name}`, listeners[index]!));
    vi.resetModules();
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      lines.push(String(text));
      return true;
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
    NAMES.forEach((name, index) => void unsubscribe(`kube-rx:informer:${name}`, listeners[index]!));
  });

  /** The switch is read when the package is loaded. */
  async function runWith(traced: string): Promise<void> {
    vi.stubEnv('KUBE_TRACE', traced);
    const { Reflector } = await import('./reflector/reflector.ts');
    const clock = new VirtualClock();
    const server = new ScriptedListerWatcher().onList(newInternalError('down'), list('10', 'a@5'));
    const controller = new AbortController();
    const store = { add() {}, update() {}, delete() {}, replace() {} };
    const reflector = new Reflector(server, store, { clock, random: () => 0, name: 'things' });
    const done = reflector.run({ signal: controller.signal });
    await settle();
    await clock.advance(800);
    controller.abort();
    await done;
  }

  it('diagnostics channels tell of each request, each list in the store and each fault', async () => {
    await runWith('');
    expect(published).toEqual([
      'list things 0',
      'fault things 0 server',
      'list things 0',
      'replace things 10 1',
      'watch things 10',
    ]);
    expect(lines).toEqual([]);
  });

  it.each(['reflector', 'other,reflector', 'all'])(
    'KUBE_TRACE=%s writes a line for each request and decision',
    async (traced) => {
      await runWith(traced);
      expect(lines[0]).toBe('reflector{things} | list resourceVersion=0 limit=500\n');
      expect(lines.map((line) => /\| (\w+)/.exec(line)?.[1])).toEqual(['list', 'wait', 'list', 'replace', 'watch']);
      expect(lines[1]).toBe('reflector{things} | wait delayMs=800 fault=server\n');
    },
  );

  it('KUBE_TRACE of something else is silent', async () => {
    await runWith('queue');
    expect(lines).toEqual([]);
  });
});
