import { EventEmitter } from 'node:events';
import type { ClientHttp2Session } from 'node:http2';
import { VirtualClock } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import { Http2Connection } from './http2-connection.ts';

/** A session of which the test says what state it is in. */
class StubSession extends EventEmitter {
  closed = false;
  destroyed = false;
  pings = 0;
  readonly remoteSettings = { maxConcurrentStreams: 100 };

  unref(): void {}
  close(): void {
    this.closed = true;
  }
  ping(): void {
    if (this.destroyed) throw new Error('The session has been destroyed');
    this.pings++;
  }
}

function setUp() {
  const clock = new VirtualClock();
  const session = new StubSession();
  const timing = { clock, pingAfterMs: 30_000, pingTimeoutMs: 15_000 };
  return {
    clock,
    session,
    connection: new Http2Connection(session as unknown as ClientHttp2Session, timing, () => {}),
  };
}

describe('Http2Connection', () => {
  it('does not ping a session that was destroyed in this turn', async () => {
    const { clock, session, connection } = setUp();
    await clock.advance(5_000);
    session.destroyed = true;
    connection.suspect();
    expect([session.pings, connection.usable, connection.verdict]).toEqual([0, false, undefined]);
    await clock.advance(100_000);
    expect(session.pings).toBe(0);
  });

  it('is in doubt once, is waited for a second, and is trusted when bytes come', async () => {
    const { clock, session, connection } = setUp();
    await clock.advance(5_000);
    connection.suspect();
    connection.suspect();
    expect([session.pings, connection.usable]).toEqual([1, false]);
    const { verdict } = connection;
    await clock.advance(1_000);
    await verdict;
    expect([connection.usable, connection.verdict]).toEqual([false, undefined]);
    connection.activity();
    expect(connection.usable).toBe(true);
  });

  it('leaves no timer behind when it closes in doubt', async () => {
    const { clock, session, connection } = setUp();
    await clock.advance(5_000);
    connection.suspect();
    const { verdict } = connection;
    session.emit('close');
    await verdict;
    expect(clock.pendingTimers).toBe(0);
  });
});
