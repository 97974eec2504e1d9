import { OptionsError, VirtualClock } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import {
  BucketRateLimiter,
  defaultControllerRateLimiter,
  defaultItemBasedRateLimiter,
  ItemExponentialFailureRateLimiter,
  ItemFastSlowRateLimiter,
  MaxOfRateLimiter,
  WithMaxWaitRateLimiter,
} from './default-rate-limiters.ts';
import { RateLimitingQueue } from './rate-limiting-queue.ts';
import { TokenBucket } from './token-bucket.ts';

const times = (count: number, call: () => number): number[] => Array.from({ length: count }, call);

describe('rate limiters', () => {
  it('doubles the wait of each item up to the maximum, and starts again after forget', () => {
    const limiter = new ItemExponentialFailureRateLimiter<string>({ baseDelayMs: 5, maxDelayMs: 1_000_000 });
    const waits = times(20, () => limiter.when('one'));
    expect(waits.slice(0, 4)).toEqual([5, 10, 20, 40]);
    expect(waits[17]).toBe(5 * 2 ** 17);
    expect(waits[18]).toBe(1_000_000);
    expect(limiter.numRequeues('one')).toBe(20);
    expect(limiter.when('two')).toBe(5);
    limiter.forget('one');
    expect(limiter.numRequeues('one')).toBe(0);
    expect(limiter.when('one')).toBe(5);
  });

  // Upstream test: client-go@v0.30.3:util/workqueue/default_rate_limiters_test.go#TestItemExponentialFailureRateLimiterOverFlow
  it('stays at the maximum after thousands of failures', () => {
    const limiter = defaultItemBasedRateLimiter<string>();
    for (let failure = 0; failure < 5000; failure++) limiter.when('one');
    expect(limiter.when('one')).toBe(1_000_000);
  });

  it('is fast for the first failures and slow afterwards', () => {
    const limiter = new ItemFastSlowRateLimiter<string>({ fastDelayMs: 5, slowDelayMs: 10_000, maxFastAttempts: 3 });
    expect(times(5, () => limiter.when('one'))).toEqual([5, 5, 5, 10_000, 10_000]);
    limiter.forget('one');
    expect(limiter.when('one')).toBe(5);
  });

  it('charges every part and takes the longest wait', () => {
    const limiter = new MaxOfRateLimiter<string>([
      new ItemFastSlowRateLimiter({ fastDelayMs: 5, slowDelayMs: 3000, maxFastAttempts: 3 }),
      new ItemExponentialFailureRateLimiter({ baseDelayMs: 1, maxDelayMs: 1000 }),
    ]);
    expect(times(5, () => limiter.when('one'))).toEqual([5, 5, 5, 3000, 3000]);
    expect(limiter.numRequeues('one')).toBe(5);
    limiter.forget('one');
    expect(limiter.numRequeues('one')).toBe(0);
  });

  it('bounds another limiter', () => {
    const limiter = new WithMaxWaitRateLimiter(
      new ItemExponentialFailureRateLimiter<string>({ baseDelayMs: 500, maxDelayMs: 10_000 }),
      700,
    );
    expect(times(3, () => limiter.when('one'))).toEqual([500, 700, 700]);
    expect(limiter.numRequeues('one')).toBe(3);
  });

  it('lets a burst through, then spaces the items by the rate', () => {
    const clock = new VirtualClock();
    const limiter = new BucketRateLimiter<string>(new TokenBucket({ qps: 10, burst: 2, clock }));
    expect(times(4, () => limiter.when('x'))).toEqual([0, 0, 100, 200]);
    clock.advanceSync(200);
    expect(limiter.when('x')).toBeCloseTo(100);
    expect(limiter.numRequeues('x')).toBe(0);
  });

  it('holds the global rate of ten a second after a hundred in the default limiter', () => {
    const limiter = defaultControllerRateLimiter<number>({ clock: new VirtualClock() });
    const waits = Array.from({ length: 102 }, (_, item) => limiter.when(item));
    expect(waits.slice(0, 100).every((wait) => wait === 5)).toBe(true);
    expect(waits.slice(100)).toEqual([100, 200]);
  });

  it('gives tokens only when they are there, and takes one back', () => {
    const clock = new VirtualClock();
    const bucket = new TokenBucket({ qps: 1, burst: 1, clock });
    expect(bucket.tryAccept()).toBe(true);
    expect(bucket.tryAccept()).toBe(false);
    bucket.giveBack();
    expect(bucket.tryAccept()).toBe(true);
    clock.advanceSync(1000);
    expect(bucket.tryAccept()).toBe(true);
  });

  it('refuses figures that make no sense', () => {
    expect(() => new TokenBucket({ qps: 0, burst: 1 })).toThrow(OptionsError);
    expect(() => new TokenBucket({ qps: 1, burst: Number.NaN })).toThrow(/burst/);
    expect(() => new ItemExponentialFailureRateLimiter({ baseDelayMs: -1, maxDelayMs: 1 })).toThrow(/baseDelayMs/);
  });
});

describe('RateLimitingQueue', () => {
  const setUp = () => {
    const clock = new VirtualClock();
    const rateLimiter = new ItemExponentialFailureRateLimiter<string>({ baseDelayMs: 1, maxDelayMs: 1000 });
    return { clock, queue: new RateLimitingQueue<string>({ clock, rateLimiter }) };
  };

  it('waits longer with each failure of an item and forgets on request', async () => {
    const { clock, queue } = setUp();
    queue.addRateLimited('one');
    queue.addRateLimited('one');
    expect(queue.numRequeues('one')).toBe(2);
    queue.forget('one');
    expect(queue.numRequeues('one')).toBe(0);
    await clock.advance(1);
    expect(queue.length).toBe(1);
  });

  it('hands items to a loop: success forgets, failure waits, a lost verdict is a failure', async () => {
    const { clock, queue } = setUp();
    const log: string[] = [];
    const start = clock.now();
    const loop = (async () => {
      for await (const item of queue.items()) {
        log.push(`${item.key} ${item.failures} @${clock.now() - start}`);
        if (item.key === 'good') item.succeed();
        else if (item.key === 'later')
          item.failures === 0 && log.length < 4 ? item.retry({ afterMs: 100 }) : item.succeed();
        else if (item.failures === 2) item.succeed();
      }
    })();
    for (const key of ['good', 'bad', 'later']) queue.add(key);
    await clock.advance(1000);
    expect(log).toEqual(['good 0 @0', 'bad 0 @0', 'later 0 @0', 'bad 1 @1', 'bad 2 @3', 'later 0 @100']);
    await queue.shutDownWithDrain();
    await loop;
    expect(queue.inspect().processing).toBe(0);
  });

  it('counts only the first verdict', async () => {
    const { queue } = setUp();
    queue.add('a');
    for await (const item of queue.items()) {
      item.succeed();
      item.retry();
      expect(item.settled).toBe(true);
      queue.shutDown();
    }
    expect(queue.waitingLength).toBe(0);
    expect(queue.numRequeues('a')).toBe(0);
  });

  it('ends a loop when its signal aborts and puts the item back when the loop body throws', async () => {
    const { queue } = setUp();
    const abort = new AbortController();
    const idle = (async () => {
      for await (const item of queue.items(abort.signal)) item.succeed();
      return 'ended';
    })();
    abort.abort();
    expect(await idle).toBe('ended');
    queue.add('a');
    const failing = (async () => {
      for await (const item of queue.items()) throw new Error(`cannot do ${item.key}`);
    })();
    await expect(failing).rejects.toThrow('cannot do a');
    expect(queue.numRequeues('a')).toBe(1);
    expect(queue.waitingLength).toBe(1);
  });

  it('serves each of a hundred items that come back every second at half that rate (draino#86)', async () => {
    const clock = new VirtualClock();
    const queue = new RateLimitingQueue<number>({
      clock,
      rateLimiter: new ItemExponentialFailureRateLimiter({ baseDelayMs: 5, maxDelayMs: 1_000_000 }),
    });
    const firstRun = new Map<number, number>();
    const start = clock.now();
    for (let second = 0; second < 10; second++) {
      for (let item = 0; item < 100; item++) queue.addRateLimited(item);
      for (let slot = 0; slot < 50; slot++) {
        await clock.advance(20);
        const item = queue.tryGet();
        if (item === undefined) continue;
        if (!firstRun.has(item)) firstRun.set(item, clock.now() - start);
        queue.forget(item);
        queue.done(item);
      }
    }
    expect(firstRun.size).toBe(100);
  });
});
