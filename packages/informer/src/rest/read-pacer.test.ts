import { describe, expect, it } from 'vitest';
import { ReadPacer } from './read-pacer.ts';

const EVENT = 1500;

/** A pacer whose connection has just become busy. */
function busyPacer(bytes: number = EVENT): ReadPacer {
  const pacer = new ReadPacer(20);
  for (let read = 1; read < 8; read++) expect(pacer.read(bytes, 0)).toBe(0);
  expect(pacer.read(bytes, 0)).toBe(20);
  return pacer;
}

describe('a read pacer', () => {
  it('never lets a connection rest that is read less often than eight times in the time of a rest', () => {
    const pacer = new ReadPacer(20);
    for (let now = 0; now < 10_000; now += 3) expect(pacer.read(EVENT, now)).toBe(0);
  });

  it('lets a connection rest from the eighth read on', () => {
    const pacer = busyPacer();
    pacer.rested(20);
    expect(pacer.read(10 * EVENT, 20)).toBe(20);
  });

  it('reads a connection at once again when a rest brought next to nothing', () => {
    const pacer = busyPacer();
    pacer.rested(20);
    pacer.read(2 * EVENT, 20);
    pacer.rested(40);
    expect(pacer.read(EVENT, 41)).toBe(0);
  });

  it('counts anew after a connection has become quiet', () => {
    const pacer = busyPacer();
    pacer.rested(20);
    pacer.rested(40);
    for (let read = 1; read < 8; read++) expect(pacer.read(EVENT, 40)).toBe(0);
    expect(pacer.read(EVENT, 40)).toBe(20);
  });

  it('lets a fast connection rest for shorter, so that portions stay small', () => {
    const pacer = busyPacer();
    for (let turn = 0; turn < 3; turn++) {
      pacer.rested(turn);
      pacer.read(480 * 1024, turn);
    }
    pacer.rested(3);
    expect(pacer.read(480 * 1024, 3)).toBe(1);
    for (let turn = 4; turn < 9; turn++) {
      pacer.rested(turn);
      pacer.read(16 * 1024, turn);
    }
    expect(pacer.read(16 * 1024, 9)).toBe(20);
  });

  it('never rests when told so', () => {
    const pacer = new ReadPacer(0);
    for (let read = 0; read < 100; read++) expect(pacer.read(EVENT, 0)).toBe(0);
  });
});
