// The promises of the pair under random faults: at quiescence the cache is the server's state, handlers were told each object's
// changes in order and lost no deletion, and nothing is left behind.
// RUNS sets how many inputs each property gets, SEED where they begin.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Step, Variant } from './support/fault-run.ts';
import { anyStep, DISTURBANCES, FaultRun, STEPS } from './support/fault-run.ts';
import { LIST_FAULTS, WATCH_FAULTS } from './support/faulty-body.ts';
import { ANY_FAULTS } from './support/faulty-transport.ts';
import { rest } from './support/pair.ts';
import { property, RUNS } from './support/property-run.ts';

/** New ones come last: kept inputs name them by their place. */
const VARIANTS: Readonly<Record<string, Variant>> = {
  'list and watch': {},
  'pages of two': { informer: { pageSize: 2, relistFrom: 'most-recent' } },
  'a streaming list': { server: { featureGates: { WatchList: true } }, informer: { initial: 'watch-list' } },
  'a server without a watch cache': { server: { watchCache: false } },
  'an informer per namespace and a compact store': {
    informer: { namespaces: ['one', 'two'], storage: 'compact', queue: 'delta' },
  },
  'the behaviour of client-go 1.30': { informer: { profile: 'client-go-1.30', emitUnchanged: false } },
  'a server of v1.37, which streams by itself': { server: { profile: 'v1.37' } },
};
/** What the other properties get of the runs of the first. */
const OTHERS = 0.2;
const seeds = fc.integer({ min: 0, max: 2 ** 31 });

/** Kinds of faults that the informer must have reported. */
const FELT = [
  'expired',
  'rv-too-large',
  'throttled',
  'refused',
  'transport',
  'server',
  'decode',
  'idle',
  'early-close',
  'initial-events-timeout',
];

/** What happened in all runs: a property that met no fault would show nothing. */
const met = new Map<string, number>();

function tally(run: FaultRun): void {
  for (const [what, count] of run.faulty.counts) met.set(what, (met.get(what) ?? 0) + count);
}

describe('informer and server under faults', () => {
  for (const [name, variant] of Object.entries(VARIANTS)) {
    const share = name === 'list and watch' ? 1 : OTHERS;
    property<[number, Step[]]>(
      `keep their promises with ${name}`,
      [seeds, fc.array(anyStep, { minLength: 5, maxLength: 40, size: 'max' })],
      async (seed, steps) => {
        const run = await FaultRun.start(seed, variant);
        try {
          for (const each of steps) {
            await run.take(each);
            await rest(2);
          }
          await run.settle();
          await run.close();
          tally(run);
        } finally {
          await run.dispose();
        }
        expect(run.pair.clock.pendingTimers).toBe(0);
      },
      share,
    );
  }

  property<[number, Step[], number, number]>(
    'leave nothing behind when the informer is closed in the middle',
    [
      seeds,
      fc.array(anyStep, { maxLength: 12, size: 'max' }),
      fc.integer({ min: 0, max: Object.keys(VARIANTS).length - 1 }),
      fc.integer({ min: 0, max: 60 }),
    ],
    async (seed, steps, variant, turns) => {
      const run = await FaultRun.start(seed, Object.values(VARIANTS)[variant]!);
      try {
        for (const each of steps) await run.take(each);
        const last = run.take('advance');
        await rest(turns);
        await run.close();
        await last;
      } finally {
        await run.dispose();
      }
      expect(run.pair.clock.pendingTimers).toBe(0);
    },
    OTHERS,
  );

  // A handful of runs cannot meet them all.
  it.skipIf(RUNS < 200)('met every kind of fault, and the informer felt it', () => {
    if (process.env['RUNS'] !== undefined) console.log(Object.fromEntries([...met].sort()));
    const unmet = [
      ...[...ANY_FAULTS, ...WATCH_FAULTS, ...LIST_FAULTS, 'too-large', 'mute', 'wait-a-day', 'burst-answer'],
      ...STEPS.map((step) => `step ${step}`),
      ...DISTURBANCES.map((act) => `meanwhile ${act}`),
      ...FELT.map((kind) => `fault ${kind}`),
      ...['deletion', 'tombstone', 'recreation'].map((what) => `told ${what}`),
    ].filter((what) => !met.has(what));
    expect(unmet).toEqual([]);
  });
});
