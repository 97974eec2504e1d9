// A watch reads its body past Node's parser, a call does not. Both must tell of the same bytes and the same end, whatever the server sends.
import { request as httpRequest } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { realClock } from '@kube-rx/apimachinery';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAxiosTransport } from '../../src/rest/axios-transport.ts';
import { BodyTaps } from '../../src/rest/body-taps.ts';
import { DirectReads } from '../../src/rest/direct-reads.ts';
import type { Transport, TransportPurpose, TransportResponse } from '../../src/rest/transport.ts';
import { chunk, END, HEAD, listen, nextTurn, outcome, playOn, type Script } from '../support/chunked-answer.ts';
import { eventually } from '../support/http-server.ts';
import { RecordingSink } from '../support/recording-sink.ts';

const packed = (data: string): Buffer => {
  const bytes = gzipSync(data);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
};

describe('the body of a watch', () => {
  let server: Server;
  let sockets: Socket[];
  let script: Script;
  let url: string;
  let transport: Transport;

  beforeEach(async () => {
    sockets = [];
    server = createServer((socket) => {
      sockets.push(socket);
      playOn(socket, () => script);
    });
    url = `http://127.0.0.1:${await listen(server)}/x`;
    transport = createAxiosTransport();
  });
  afterEach(async () => {
    transport.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  const send = (purpose: TransportPurpose = 'watch'): Promise<TransportResponse> =>
    transport.send({ method: 'GET', url, headers: {}, purpose });
  async function sameAsACall(played: Script): Promise<string> {
    script = played;
    const expected = await outcome(transport, url, 'call');
    expect(await outcome(transport, url, 'watch')).toBe(expected);
    return expected;
  }

  it.each<[string, Script, string]>([
    ['in one piece', { pieces: [HEAD + chunk('a\n') + chunk('b\n') + END] }, '200 "a\\nb\\n" end'],
    ['in many', { pieces: [...(HEAD + chunk('a\n') + chunk('ü\n') + END)] }, '200 "a\\nü\\n" end'],
    [
      'after provisional answers',
      {
        pieces: [
          `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n${HEAD}${chunk('a')}${END}`,
        ],
      },
      '200 "a" end',
    ],
    ['with trailers', { pieces: [HEAD + chunk('a'), '0\r\nX-Sum: 1\r\n\r\n'] }, '200 "a" end'],
    ['with extensions of chunks', { pieces: [HEAD + chunk('a'), '1;x=y\r\nb\r\n', chunk('c') + END] }, '200 "abc" end'],
    ['of a given length', { pieces: ['HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab', 'c'] }, '200 "abc" end'],
    [
      'up to the end of the connection',
      { pieces: ['HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nab', 'c'], after: 'end' },
      '200 "abc" end',
    ],
    [
      'packed',
      { pieces: [HEAD.replace('\r\n\r\n', '\r\nContent-Encoding: gzip\r\n\r\n'), packed('a\n'), END] },
      '200 "a\\n" end',
    ],
    ['without a body', { pieces: ['HTTP/1.1 204 No Content\r\n\r\n'] }, '204 "" end'],
    ['of a refusal', { pieces: [HEAD.replace('200 OK', '410 Gone') + chunk('gone') + END] }, '410 "gone" end'],
  ])('arrives %s', async (_how, played, expected) => {
    expect(await sameAsACall(played)).toBe(expected);
  });

  it.each<[string, Script]>([
    ['a connection that ends between chunks', { pieces: [HEAD + chunk('a')], after: 'end' }],
    ['a connection that ends in a chunk', { pieces: [`${HEAD}5\r\nab`], after: 'end' }],
    ['a chunk without its end', { pieces: [`${HEAD}1\r\na1\r\nb\r\n`] }],
    ['a size that is none', { pieces: [HEAD + chunk('a'), 'x\r\n'] }],
    ['a head that is none', { pieces: ['HTTP/1.1 200 OK\r\nbroken\r\n\r\n'] }],
    ['a head without end', { pieces: [`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(70_000)}`, 'x'.repeat(70_000)] }],
    ['no answer', { pieces: [], after: 'end' }],
  ])('fails like a call after %s', async (_what, played) => {
    expect(await sameAsACall(played)).not.toMatch(/ end$/);
  });

  it('is the same as that of a call under any bytes and any cuts', async () => {
    const data = fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 20 });
    const odd = fc.constantFrom(
      '1;x\r\na\r\n',
      '\r\n',
      'zz\r\n',
      '01\r\nb\r\n',
      '0\r\nT: 1\r\n\r\n',
      '3\r\nab',
      'A\r\n0123456789\r\n',
      HEAD,
    );
    const line = (text: string): string => HEAD.replace('\r\n', `\r\n${text}\r\n`);
    const head = fc.oneof(
      { weight: 3, arbitrary: fc.constant(HEAD) },
      {
        weight: 2,
        arbitrary: fc.constantFrom(
          `HTTP/1.1 103 Early Hints\r\n\r\n${HEAD}`,
          `\r\n\r\n${HEAD}`,
          HEAD.replaceAll('\r\n', '\n'),
          HEAD.replace('1.1', '1.0'),
          HEAD.replace('chunked', 'gzip, chunked'),
          line('Content-Length: 3'),
          line('Content-Encoding: identity'),
          line('Connection: close'),
          line('Connection: upgrade\r\nUpgrade: x'),
          line('Transfer-Encoding: chunked'),
          line('no header'),
        ),
      },
    );
    const body = fc.array(fc.oneof({ weight: 6, arbitrary: data.map(chunk) }, { weight: 1, arbitrary: odd }), {
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(
        head,
        body,
        fc.boolean(),
        fc.array(fc.nat(), { maxLength: 6 }),
        async (start, parts, ended, positions) => {
          const whole = start + parts.join('') + (ended ? END : '');
          const ends = [...positions.map((position) => position % whole.length), whole.length].sort((a, b) => a - b);
          await sameAsACall({ pieces: ends.map((end, index) => whole.slice(ends[index - 1] ?? 0, end)), after: 'end' });
        },
      ),
      { numRuns: 100 },
    );
  });

  it.each([
    ['watch', 1],
    ['call', 3],
  ] as const)('of a %s comes in %d pieces when three chunks came at once', async (purpose, pieces) => {
    script = { pieces: [HEAD + chunk('a') + chunk('b') + chunk('c')], after: 'keep' };
    const { body } = await send(purpose);
    const told: string[] = [];
    body.consume({ data: (bytes) => told.push(String(Buffer.from(bytes))), end() {}, error() {} });
    await eventually(() => told.join('') === 'abc');
    expect(told).toHaveLength(pieces);
    body.destroy();
  });

  it('leaves a connection that the next request can use', async () => {
    script = { pieces: [HEAD + chunk('a') + END] };
    for (let count = 0; count < 5; count++) expect(await outcome(transport, url, 'watch')).toBe('200 "a" end');
    script = { pieces: [HEAD, chunk('b'), END] };
    expect(await outcome(transport, url, 'watch')).toBe('200 "b" end');
    expect(sockets).toHaveLength(1);
  });

  it('waits for its reader, who may come late', async () => {
    script = { pieces: [HEAD + chunk('early\n'), chunk('later\n'), END] };
    const answer = await send();
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    const sink = new RecordingSink();
    answer.body.consume(sink);
    await eventually(() => sink.ended === 'end');
    expect(sink.text).toBe('early\nlater\n');
  });

  it.each(['watch', 'call'] as const)(
    'of a %s is whole to a reader who comes when the server has gone',
    async (purpose) => {
      script = { pieces: [HEAD + chunk('early\n') + END], after: 'end' };
      const answer = await send(purpose);
      await eventually(() => sockets[0]!.writableFinished);
      for (let turn = 0; turn < 20; turn++) await nextTurn();
      const sink = new RecordingSink();
      answer.body.consume(sink);
      await eventually(() => sink.ended !== 'open');
      expect([sink.text, sink.ended]).toEqual(['early\n', 'end']);
    },
  );

  it.each(['watch', 'call'] as const)('of a %s has an end for a reader who comes after a reset', async (purpose) => {
    script = { pieces: [HEAD + chunk('early\n') + END] };
    const answer = await send(purpose);
    sockets[0]!.resetAndDestroy();
    for (let turn = 0; turn < 50; turn++) await nextTurn();
    const sink = new RecordingSink();
    answer.body.consume(sink);
    await eventually(() => sink.ended !== 'open');
  });

  it.each(['watch', 'call'] as const)('of a %s that was paused before it has a reader waits', async (purpose) => {
    script = { pieces: [HEAD + chunk('a'), chunk('b'), END] };
    const { body } = await send(purpose);
    const sink = new RecordingSink();
    body.pause();
    body.consume(sink);
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    expect(sink.text).toBe('');
    body.resume();
    await eventually(() => sink.ended === 'end');
    expect(sink.text).toBe('ab');
  });

  it('stops the server when it is paused, and loses nothing', async () => {
    const line = `${'x'.repeat(65_535)}\n`;
    script = { pieces: [HEAD, ...Array.from({ length: 400 }, () => chunk(line)), END] };
    const answer = await send();
    const sink = new RecordingSink();
    const { body } = answer;
    let afterPause = 0;
    let paused = false;
    body.consume({
      data(bytes) {
        if (paused) afterPause++;
        sink.data(bytes);
        if (sink.text.length === bytes.length) {
          paused = true;
          body.pause();
        }
      },
      end: () => sink.end(),
      error: (error) => sink.error(error),
    });
    await eventually(() => sockets[0]!.writableLength > 1 << 20);
    for (let turn = 0; turn < 50; turn++) await nextTurn();
    expect(afterPause).toBe(0);
    paused = false;
    body.resume();
    await eventually(() => sink.ended === 'end');
    expect(sink.text.length).toBe(400 * line.length);
  });

  it('can be paused at any piece', async () => {
    script = { pieces: [HEAD, ...Array.from('abcdefghij', chunk), END] };
    const { body } = await send();
    const sink = new RecordingSink();
    body.consume({
      data(bytes) {
        sink.data(bytes);
        body.pause();
        setImmediate(() => body.resume());
      },
      end: () => sink.end(),
      error: (error) => sink.error(error),
    });
    await eventually(() => sink.ended === 'end');
    expect(sink.text).toBe('abcdefghij');
  });

  it('says nothing more after it was destroyed, and closes its connection', async () => {
    script = { pieces: [HEAD + chunk('a') + chunk('b'), chunk('c')] };
    const { body } = await send();
    const told: string[] = [];
    body.consume({
      data() {
        told.push('data');
        body.destroy();
      },
      end: () => told.push('end'),
      error: () => told.push('error'),
    });
    await eventually(() => sockets[0]!.destroyed);
    expect(told).toEqual(['data']);
  });

  it('fails with the code of a lost connection when it is reset', async () => {
    script = { pieces: [HEAD + chunk('a')], after: 'reset' };
    const answer = await send();
    const sink = new RecordingSink();
    answer.body.consume(sink);
    await eventually(() => sink.ended !== 'open');
    expect(sink.ended).toMatchObject({ code: 'RESET' });
  });

  it('comes after as many provisional answers as one read of the connection can hold', async () => {
    const connection = new Duplex({ read() {}, write: (_bytes, _encoding, done) => done() });
    const request = httpRequest({ createConnection: () => connection });
    const taps = new BodyTaps({ clock: realClock, direct: new DirectReads(), maxRestMs: 0 });
    taps.attach(request);
    const answered = new Promise<object>((resolve) => request.once('response', resolve));
    request.end();
    await nextTurn();
    connection.push(`${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(50_000)}${HEAD}${chunk('a')}`);
    const told: string[] = [];
    taps.of(await answered)?.start((bytes) => told.push(String(bytes)));
    await eventually(() => told.length > 0);
    expect(told).toEqual(['a']);
    connection.destroy();
  });
});
