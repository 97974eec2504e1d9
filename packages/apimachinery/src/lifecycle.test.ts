import { describe, expect, it, vi } from 'vitest';
import { Lifecycle } from './lifecycle.ts';

describe('Lifecycle', () => {
  it('runs finalizers one after another, the youngest first', async () => {
    const lifecycle = new Lifecycle();
    const seen: string[] = [];
    lifecycle.defer(() => void seen.push('first'));
    lifecycle.defer(async () => {
      seen.push('second begins');
      await Promise.resolve();
      seen.push('second ends');
    });
    await lifecycle.close();
    expect(seen).toEqual(['second begins', 'second ends', 'first']);
  });

  it('aborts the signal with the reason before the first finalizer', async () => {
    const lifecycle = new Lifecycle();
    const reason = new Error('over');
    let abortedFirst = false;
    lifecycle.defer(() => {
      abortedFirst = lifecycle.signal.aborted;
    });
    await lifecycle.close(reason);
    expect(abortedFirst).toBe(true);
    expect(lifecycle.signal.reason).toBe(reason);
  });

  it('closes once, also when a listener of the signal closes again', async () => {
    const lifecycle = new Lifecycle();
    const run = vi.fn();
    lifecycle.defer(run);
    let inner: Promise<void> | undefined;
    lifecycle.signal.addEventListener('abort', () => {
      inner = lifecycle.close();
    });
    const outer = lifecycle.close();
    expect(inner).toBe(outer);
    await Promise.all([outer, lifecycle.close()]);
    expect(run).toHaveBeenCalledOnce();
  });

  it('runs all finalizers although some fail, and reports the failures together', async () => {
    const lifecycle = new Lifecycle();
    const run = vi.fn();
    lifecycle.defer(run);
    lifecycle.defer(() => Promise.reject(new Error('b')));
    lifecycle.defer(() => {
      throw new Error('a');
    });
    const error = await lifecycle.close().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(AggregateError);
    expect((error as AggregateError).errors.map(String)).toEqual(['Error: a', 'Error: b']);
    expect(run).toHaveBeenCalledOnce();
  });

  it('takes back the registration it was asked to take back, not another one of the same function', async () => {
    const lifecycle = new Lifecycle();
    const seen: string[] = [];
    const shared = (): void => void seen.push('shared');
    const takeBackFirst = lifecycle.defer(shared);
    lifecycle.defer(() => void seen.push('between'));
    lifecycle.defer(shared);
    takeBackFirst();
    takeBackFirst();
    await lifecycle.close();
    expect(seen).toEqual(['shared', 'between']);
  });

  it('waits for a finalizer that comes while it is closing', async () => {
    const lifecycle = new Lifecycle();
    const seen: string[] = [];
    let release!: () => void;
    lifecycle.defer(() => {
      lifecycle.defer(async () => {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        seen.push('late');
      });
    });
    const closed = lifecycle.close().then(() => seen.push('closed'));
    await Promise.resolve();
    release();
    await closed;
    expect(seen).toEqual(['late', 'closed']);
  });

  it('runs a finalizer at once when it comes after the end', async () => {
    const lifecycle = new Lifecycle();
    await lifecycle.close();
    const run = vi.fn();
    lifecycle.defer(run)();
    expect(run).toHaveBeenCalledOnce();
    await lifecycle.close();
  });

  it('shows the error of a late finalizer to the next close and to nobody else', async () => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    try {
      const lifecycle = new Lifecycle();
      await lifecycle.close();
      lifecycle.defer(() => Promise.reject(new Error('late')));
      await new Promise((resolve) => setImmediate(resolve));
      await expect(lifecycle.close()).rejects.toThrow('1 finalizer(s) failed while closing');
      expect(unhandled).not.toHaveBeenCalled();
    } finally {
      process.off('unhandledRejection', unhandled);
    }
  });

  it('does not report a handled failure a second time when a finalizer comes late', async () => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    try {
      const lifecycle = new Lifecycle();
      lifecycle.defer(() => Promise.reject(new Error('known')));
      await expect(lifecycle.close()).rejects.toThrow();
      lifecycle.defer(() => {});
      await new Promise((resolve) => setImmediate(resolve));
      expect(unhandled).not.toHaveBeenCalled();
    } finally {
      process.off('unhandledRejection', unhandled);
    }
  });

  it('closes at the end of a block', async () => {
    const run = vi.fn();
    {
      await using lifecycle = new Lifecycle();
      lifecycle.defer(run);
    }
    expect(run).toHaveBeenCalledOnce();
  });
});
