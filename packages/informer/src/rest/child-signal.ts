// A signal of its own for each request: one listener on the parent, taken away when the request is over.

export interface ChildSignal {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
  /** Detaches from the parent; call it when the work has settled. */
  release(): void;
}

/** Aborts with the parent, and alone. Keeps the parent's listener list short (Node warns from the eleventh on). */
export function childSignal(parent: AbortSignal | undefined): ChildSignal {
  const controller = new AbortController();
  const follow = (): void => controller.abort(parent?.reason);
  if (parent?.aborted) follow();
  else parent?.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release: () => parent?.removeEventListener('abort', follow),
  };
}
