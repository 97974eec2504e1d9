// Makes a test of every recorded case.
import { afterAll, describe, expect, it } from 'vitest';
import { type Json, rebuild } from './json.ts';
import { compared } from './likeness.ts';
import { playCase } from './play.ts';
import { recordedCases } from './recorded-case.ts';
import type { HttpVersion } from './server-under-test.ts';
import { SharedServers } from './shared-servers.ts';

const TIMEOUT_MS = 60_000;

/** Steps that name no version of HTTP are played over the one given. */
export function recordedBehaviour(areas: readonly string[], http: HttpVersion = '1.1'): void {
  const servers = new SharedServers(http);
  afterAll(() => servers[Symbol.asyncDispose]());
  for (const area of areas) {
    describe(area, () => {
      for (const recorded of recordedCases(area)) {
        it(recorded.name, { timeout: TIMEOUT_MS }, async () => {
          const played = await servers.with(recorded, (server) => playCase(recorded, server));
          const { actual, golden } = compared(recorded, played);
          expect(http === '2' ? withoutFraming(actual) : actual).toEqual(
            http === '2' ? withoutFraming(golden) : golden,
          );
        });
      }
    });
  }
}

/** Chunks and lengths are those of HTTP/1.1. */
function withoutFraming(outcomes: Json): Json {
  return rebuild(outcomes, (value) => {
    if (value?.['(framing)'] === undefined) return value;
    const { '(framing)': _framing, ...rest } = value;
    return rest;
  });
}
