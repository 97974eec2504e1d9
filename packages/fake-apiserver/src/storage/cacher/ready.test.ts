// Upstream test: apiserver@v0.30.3:pkg/storage/cacher/ready_test.go
import { describe, expect, it } from 'vitest';
import { Ready } from './ready.ts';

describe('Ready', () => {
  it('counts a generation each time it becomes ready', async () => {
    const ready = new Ready();
    expect(ready.check()).toBeUndefined();
    ready.set(true);
    ready.set(true);
    expect(ready.check()).toBe(1);
    ready.set(false);
    expect(ready.check()).toBeUndefined();
    const waiting = ready.wait();
    ready.set(true);
    expect(await waiting).toBe(2);
  });

  it('lets go of those who wait when it stops, for good', async () => {
    const ready = new Ready();
    const waiting = [ready.wait(), ready.wait(new AbortController().signal)];
    ready.stop();
    for (const one of waiting) await expect(one).rejects.toThrow('apiserver cacher is stopped');
    ready.set(true);
    expect(ready.check()).toBeUndefined();
    await expect(ready.wait()).rejects.toThrow('apiserver cacher is stopped');
  });

  it('lets go of one whose request ends, and of no other', async () => {
    const ready = new Ready();
    const controller = new AbortController();
    const gone = ready.wait(controller.signal);
    const stays = ready.wait();
    controller.abort();
    await expect(gone).rejects.toThrow('context deadline exceeded');
    await expect(ready.wait(controller.signal)).rejects.toThrow('context deadline exceeded');
    ready.set(true);
    expect(await stays).toBe(1);
  });
});
