import { describe, expect, it } from 'vitest';
import { TransportError } from '../errors.ts';
import { BodyWatchStream } from './body-watch-stream.ts';
import { defineResource } from './resource-type.ts';
import type { BodySink } from './transport.ts';
import { yieldToEventLoop } from './yield.ts';

const Things = defineResource()({ apiVersion: 'v1', kind: 'Thing', plural: 'things', scope: 'Namespaced' });
const event = new TextEncoder().encode(
  `${JSON.stringify({ type: 'ADDED', object: { metadata: { name: 'a' }, pad: 'x'.repeat(64 * 1024) } })}\n`,
);
const ENOUGH = 8;

function open() {
  const calls: string[] = [];
  let sink: BodySink | undefined;
  const body = {
    consume: (given: BodySink) => {
      sink = given;
    },
    pause: () => void calls.push('pause'),
    resume: () => void calls.push('resume'),
    destroy: () => void calls.push('destroy'),
  };
  const stream = new BodyWatchStream({ status: 200, headers: {}, body }, Things, 'tolerant', {});
  let events = 0;
  stream.start({ next: () => void events++, end() {} });
  const push = (count: number): void => {
    for (let index = 0; index < count; index++) sink!.data(event);
  };
  return { stream, calls, push, count: () => events };
}

describe('BodyWatchStream', () => {
  it('lets the event loop run after half a megabyte, and goes on', async () => {
    const { calls, push, count } = open();
    push(ENOUGH - 1);
    expect(calls).toEqual([]);
    push(1);
    expect([count(), calls]).toEqual([ENOUGH, ['pause']]);
    await yieldToEventLoop();
    expect(calls).toEqual(['pause', 'resume']);
  });

  it('does not go on by itself when its reader wants it to rest', async () => {
    const { stream, calls, push } = open();
    push(ENOUGH);
    stream.pause();
    await yieldToEventLoop();
    expect(calls).toEqual(['pause', 'pause']);
    stream.resume();
    expect(calls).toEqual(['pause', 'pause', 'resume']);
  });

  it('leaves a body alone that was stopped meanwhile', async () => {
    const { stream, calls, push } = open();
    push(ENOUGH);
    stream.stop();
    await yieldToEventLoop();
    expect(calls).toEqual(['pause', 'destroy']);
  });

  it.each([
    ['ends', (sink: BodySink) => sink.end()],
    ['breaks', (sink: BodySink) => sink.error(new TransportError('RESET', 'reset'))],
  ])('tells of a whole event whose newline never came when its connection %s', (_how, finish) => {
    const told: string[] = [];
    let sink: BodySink | undefined;
    const consume = (given: BodySink): void => {
      sink = given;
    };
    const body = { consume, pause() {}, resume() {}, destroy() {} };
    const stream = new BodyWatchStream({ status: 200, headers: {}, body }, Things, 'tolerant', {});
    stream.start({ next: ({ type }) => void told.push(type), end: () => void told.push('end') });
    const text = JSON.stringify({ type: 'ADDED', object: { metadata: { name: 'a' } } });
    sink!.data(new TextEncoder().encode(`${text}{"type":"ADD`));
    expect(told).toEqual([]);
    finish(sink!);
    expect(told).toEqual(['ADDED', 'end']);
  });
});
