// A busy watch is read in portions: when it rests, that nothing is lost or late for long, and that every end is told.
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { VirtualClock } from '@kube-rx/apimachinery';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAxiosTransport } from '../../src/rest/axios-transport.ts';
import type { Transport, TransportBody } from '../../src/rest/transport.ts';
import { chunk, END, HEAD, listen, nextTurn, outcome, playOn, type Script } from '../support/chunked-answer.ts';
import { eventually } from '../support/http-server.ts';
import { RecordingSink } from '../support/recording-sink.ts';
import { TEST_CERTIFICATE } from '../support/test-certificate.ts';

const REST_MS = 20;
const BUSY = 'abcdefghi';

describe.each([
  ['HTTP', false],
  ['TLS', true],
] as const)('a watch over %s', (_way, tls) => {
  let server: Server;
  let sockets: Socket[];
  let script: Script;
  let url: string;
  let clock: VirtualClock;
  let transport: Transport;

  beforeEach(async () => {
    sockets = [];
    script = { pieces: [HEAD] };
    const accept = (socket: Socket): void => {
      sockets.push(socket);
      playOn(socket, () => script);
    };
    server = tls ? createTlsServer(TEST_CERTIFICATE, accept) : createServer(accept);
    url = `${tls ? 'https' : 'http'}://127.0.0.1:${await listen(server)}/x`;
    clock = new VirtualClock();
    transport = createAxiosTransport({ tls: () => material, clock, maxWatchRestMs: REST_MS });
  });
  const material = { insecureSkipTlsVerify: true };
  afterEach(async () => {
    transport.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  async function open(signal?: AbortSignal): Promise<{ readonly body: TransportBody; readonly sink: RecordingSink }> {
    const { body } = await transport.send({
      method: 'GET',
      url,
      headers: {},
      purpose: 'watch',
      ...(signal === undefined ? {} : { signal }),
    });
    const sink = new RecordingSink();
    body.consume(sink);
    return { body, sink };
  }
  /** Events that come one by one, each read before the next is sent. */
  async function trickle(sink: RecordingSink, events: string): Promise<void> {
    for (const event of events) {
      const { length } = sink.text;
      sockets[0]!.write(chunk(event));
      await eventually(() => sink.text.length > length);
    }
  }
  /** Eight events within the time of a rest, and one more. */
  async function makeBusy(sink: RecordingSink): Promise<void> {
    await trickle(sink, BUSY.slice(0, -1));
    clock.advanceSync(REST_MS);
    await trickle(sink, BUSY.slice(-1));
    await eventually(() => clock.pendingTimers === 1);
  }
  async function someTurns(): Promise<void> {
    for (let turn = 0; turn < 50; turn++) await nextTurn();
  }

  it('is read at once while events come slowly', async () => {
    const { body, sink } = await open();
    for (const event of BUSY + BUSY) {
      await trickle(sink, event);
      clock.advanceSync(REST_MS / 4);
    }
    expect(sink.text).toBe(BUSY + BUSY);
    expect(clock.pendingTimers).toBe(0);
    body.destroy();
  });

  it('rests once events come fast, and then brings all that came', async () => {
    const { body, sink } = await open();
    await makeBusy(sink);
    for (const event of 'jklm') sockets[0]!.write(chunk(event));
    await someTurns();
    clock.advanceSync(REST_MS - 1);
    await someTurns();
    expect(sink.text).toBe(BUSY);
    clock.advanceSync(1);
    await eventually(() => sink.text.length === BUSY.length + 4);
    expect(sink.text).toBe(`${BUSY}jklm`);
    body.destroy();
  });

  it('is read at once again when it has become quiet', async () => {
    const { body, sink } = await open();
    await makeBusy(sink);
    clock.advanceSync(REST_MS);
    await trickle(sink, 'j');
    await eventually(() => clock.pendingTimers === 1);
    clock.advanceSync(REST_MS);
    await trickle(sink, 'klm');
    await someTurns();
    expect(clock.pendingTimers).toBe(0);
    body.destroy();
  });

  it.each<[string, (socket: Socket) => void, RegExp]>([
    ['ends', (socket) => socket.write(chunk('j') + END), /^end$/],
    ['loses its connection', (socket) => socket.end(chunk('j')), /RESET/],
    ['is cut off in an event', (socket) => socket.end('5\r\nab'), /RESET/],
  ])('tells after a rest that it %s', async (_what, end, told) => {
    const { sink } = await open();
    await makeBusy(sink);
    end(sockets[0]!);
    await someTurns();
    expect(sink.ended).toBe('open');
    // The last event and the end may take a rest each.
    clock.advanceSync(REST_MS);
    await eventually(() => sink.text.length > BUSY.length);
    clock.advanceSync(REST_MS);
    await eventually(() => sink.ended !== 'open');
    expect(sink.text.slice(0, BUSY.length + 1)).toMatch(/^abcdefghi[ja]/);
    expect(String(sink.ended instanceof Error ? (sink.ended as { code?: string }).code : sink.ended)).toMatch(told);
  });

  it('leaves no timer behind when it is given up in a rest', async () => {
    const { body, sink } = await open();
    await makeBusy(sink);
    body.destroy();
    await eventually(() => clock.pendingTimers === 0);
    await eventually(() => sockets[0]!.destroyed);
  });

  it('leaves no timer behind when it is aborted in a rest', async () => {
    const abort = new AbortController();
    const { sink } = await open(abort.signal);
    await makeBusy(sink);
    abort.abort();
    await eventually(() => clock.pendingTimers === 0);
  });

  it('waits for a reader who pauses, also beyond the rest', async () => {
    const { body, sink } = await open();
    await makeBusy(sink);
    body.pause();
    sockets[0]!.write(chunk('j'));
    clock.advanceSync(REST_MS);
    await someTurns();
    expect(sink.text).toBe(BUSY);
    body.resume();
    await eventually(() => sink.text === `${BUSY}j`);
    body.destroy();
  });

  it('does not go on before its rest is over when the reader resumes', async () => {
    const { body, sink } = await open();
    await makeBusy(sink);
    body.pause();
    body.resume();
    sockets[0]!.write(chunk('j'));
    await someTurns();
    expect(sink.text).toBe(BUSY);
    clock.advanceSync(REST_MS);
    await eventually(() => sink.text === `${BUSY}j`);
    body.destroy();
  });

  it('leaves a connection that the next watch reads at once', async () => {
    const { sink } = await open();
    await makeBusy(sink);
    sockets[0]!.write(END);
    await someTurns();
    clock.advanceSync(REST_MS);
    await eventually(() => sink.ended === 'end');
    await nextTurn();
    const next = await open();
    expect(sockets).toHaveLength(1);
    await trickle(next.sink, 'xyz');
    expect(clock.pendingTimers).toBe(0);
    next.body.destroy();
  });

  it('reads all that came in a rest, however much, before it rests again', async () => {
    const { body, sink } = await open();
    await makeBusy(sink);
    const million = chunk(`${'x'.repeat(999)}\n`).repeat(1_000);
    sockets[0]!.write(million);
    // A turn reads what the kernel holds; the server fills it again meanwhile.
    let rests = 0;
    await eventually(() => {
      if (sink.text.length < BUSY.length + 1_000_000 && clock.pendingTimers > 0) {
        rests++;
        clock.advanceSync(REST_MS);
      }
      return sink.text.length === BUSY.length + 1_000_000;
    });
    expect(rests).toBeLessThan(20);
    body.destroy();
  });

  it('brings the same as a call under any cuts, rests or not', async () => {
    const real = createAxiosTransport({ tls: () => material, maxWatchRestMs: 1 });
    const data = fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 8 });
    try {
      await fc.assert(
        fc.asyncProperty(
          fc.array(data, { minLength: 1, maxLength: 20 }),
          fc.array(fc.nat(), { minLength: 8, maxLength: 30 }),
          fc.constantFrom(END, '0\r\nX: y\r\n\r\n', '1;x\r\na\r\n0\r\n\r\n', '', 'zz', '3\r\nab'),
          async (parts, positions, end) => {
            const whole = HEAD + parts.map(chunk).join('') + end;
            const ends = [...positions.map((each) => each % whole.length), whole.length].sort((a, b) => a - b);
            script = { pieces: ends.map((each, index) => whole.slice(ends[index - 1] ?? 0, each)), after: 'end' };
            const expected = await outcome(real, url, 'call');
            expect(await outcome(real, url, 'watch')).toBe(expected);
          },
        ),
        { numRuns: 50 },
      );
    } finally {
      real.close();
    }
  });
});
