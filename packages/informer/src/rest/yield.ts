// Lets timers, sockets and other work run between two slices of a long one. Not a wait: no time passes.

interface Immediates {
  setImmediate?: (run: () => void) => unknown;
}

/** Resolves in a later turn of the event loop. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    const { setImmediate } = globalThis as Immediates;
    if (setImmediate !== undefined) {
      setImmediate(resolve);
      return;
    }
    const { port1, port2 } = new MessageChannel();
    (port1 as { onmessage?: unknown }).onmessage = (): void => {
      port1.close();
      resolve();
    };
    port2.postMessage(0);
  });
}
