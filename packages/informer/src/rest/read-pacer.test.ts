import { describe, expect, it } from 'vitest';
import { ReadPacer } from './read-pacer.ts';

const EVENT = 1500;

/** A pacer whose connection became busy at 20 ms. */
function busyPacer(): ReadPacer {
  const pacer = new ReadPacer(20);
  for (let read = 0; read < 8; read++) expect(pacer.read(EVENT, 2 * read)).toBe(false);
  expect(pacer.read(EVENT, 20)).toBe(true);
  expect(pacer.restMs).toBe(20);
  return pacer;
}

describe('a read pacer', () => {
  it('never lets a connection rest that is read less often than eight times in the time of a rest', () => {
    const pacer = new ReadPacer(20);
    for (let now = 0; now < 10_000; now += 3) expect(pacer.read(EVENT, now)).toBe(false);
  });

  it('lets a connection rest that is read that often for the time of a rest', () => {
    const pacer = busyPacer();
    pacer.rested(40);
    expect(pacer.read(10 * EVENT, 40)).toBe(true);
  });

  it('does not take a short burst for load', () => {
    const pacer = new ReadPacer(20);
    for (let read = 0; read < 100; read++) expect(pacer.read(EVENT, 0)).toBe(false);
    expect(pacer.read(EVENT, 40)).toBe(false);
  });

  it('reads a connection at once again when a rest brought next to nothing', () => {
    const pacer = busyPacer();
    pacer.rested(40);
    pacer.read(2 * EVENT, 40);
    pacer.rested(60);
    expect(pacer.read(EVENT, 61)).toBe(false);
  });

  it('reads a connection at once again that was silent, whatever it says then', () => {
    const pacer = busyPacer();
    pacer.rested(40);
    expect(pacer.read(100 * EVENT, 100)).toBe(false);
  });

  it('does not take a busy event loop for silence', () => {
    const pacer = busyPacer();
    pacer.rested(40);
    expect(pacer.read(100 * EVENT, 99)).toBe(true);
  });

  it('lets a fast connection rest for shorter, so that portions stay small', () => {
    const pacer = busyPacer();
    for (let turn = 0; turn < 3; turn++) {
      pacer.rested(turn);
      pacer.read(480 * 1024, turn);
    }
    pacer.rested(3);
    expect(pacer.restMs).toBe(1);
    for (let turn = 4; turn < 9; turn++) {
      pacer.read(16 * 1024, turn);
      pacer.rested(turn);
    }
    expect(pacer.restMs).toBe(20);
  });

  it('never rests when told so', () => {
    const pacer = new ReadPacer(0);
    for (let read = 0; read < 100; read++) expect(pacer.read(EVENT, read)).toBe(false);
  });
});
