// Finds what a test leaves behind: timers, sockets, servers, child processes.

// Names Node gives to what it waits for; the rest (pipes of the test runner, its message port) comes and goes by itself.
const WATCHED: ReadonlySet<string> = new Set([
  'Timeout',
  'TCPSocketWrap',
  'TCPServerWrap',
  'TLSWrap',
  'TCPWrap',
  'PipeServerWrap',
  'ProcessWrap',
  'FSEventWrap',
  'StatWatcher',
  'UDPWrap',
  'Worker',
]);

// What was closed takes a few turns to go away. A socket that was just connecting needs the other side for it; a timer needs
// nobody, and waiting for it would only let a timer of the test runner end and make up for it in the count.
const TURNS = 50;
const SOCKET_PATIENCE_MS = 1_000;

export interface LeakGuard {
  /** Rejects with an error that names what is there now and was not there when the guard was set up. */
  check(): Promise<void>;
}

/**
 * Remembers what keeps the process busy now.
 *
 * @example
 * let guard: LeakGuard;
 * beforeEach(() => { guard = leakGuard(); });
 * afterEach(() => guard.check());
 */
export function leakGuard(): LeakGuard {
  const before = countResources();
  return {
    async check() {
      let leaks = leakedSince(before);
      const giveUpAt = performance.now() + SOCKET_PATIENCE_MS;
      const mayEnd = (turn: number): boolean =>
        turn < TURNS || (performance.now() < giveUpAt && leaks.every((leak) => !leak.endsWith(' Timeout')));
      for (let turn = 0; leaks.length > 0 && mayEnd(turn); turn++) {
        await new Promise((resolve) => setImmediate(resolve));
        leaks = leakedSince(before);
      }
      if (leaks.length > 0) throw new Error(`left behind: ${leaks.join(', ')}`);
    },
  };
}

function countResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of process.getActiveResourcesInfo()) {
    if (WATCHED.has(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

function leakedSince(before: ReadonlyMap<string, number>): string[] {
  return [...countResources()].flatMap(([name, count]) => {
    const more = count - (before.get(name) ?? 0);
    return more > 0 ? [`${more} ${name}`] : [];
  });
}
