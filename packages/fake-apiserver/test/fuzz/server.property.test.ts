// Whatever comes in, the server answers it and goes on. RUNS=100000 asks for a long run, SEED=n for one that failed.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeApiServer, startFakeApiServer } from '../../src/index.ts';
import { Oracle } from './oracle.ts';
import { fuzzRequest } from './requests.ts';

const RUNS = Number(process.env['RUNS'] ?? 1500);
const SEED = process.env['SEED'];
const BATCH = 250;

let server: FakeApiServer;
const complaints: string[] = [];
const complain = (reason: unknown): void => {
  complaints.push(reason instanceof Error ? String(reason.stack) : String(reason));
};

beforeAll(async () => {
  process.on('unhandledRejection', complain);
  const error = (message: string, fields: { readonly error?: unknown } = {}): void => complain(fields.error ?? message);
  server = await startFakeApiServer({ listen: false, logger: { debug() {}, info() {}, warn() {}, error } });
});
afterAll(async () => {
  await server.destroy();
  process.off('unhandledRejection', complain);
});

describe('a server under random requests', () => {
  it('answers each of them and stays whole', async () => {
    const oracle = new Oracle(server, complaints);
    const property = fc.asyncProperty(fuzzRequest, async (request) => {
      expect(await oracle.judge(request)).toBeUndefined();
    });
    for (let run = 0; run < RUNS; run += BATCH) {
      await oracle.prepare();
      await fc.assert(property, { numRuns: BATCH, ...(SEED === undefined ? {} : { seed: Number(SEED) }) });
      expect(await oracle.unreadable()).toBeUndefined();
    }
  }, 10_000_000);
});
