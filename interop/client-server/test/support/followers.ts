// The ways to hear of an informer's changes, each held against its ledger.
import type { Clock, KubernetesObject } from '@kube-rx/apimachinery';
import { sleep } from '@kube-rx/apimachinery';
import type { BufferPolicy, Informer } from '@kube-rx/informer';
import { EventLedger } from './event-ledger.ts';

export const FACES = ['handler', 'slow handler', 'slow handler that resyncs', 'observable', 'iterable'] as const;
export type Face = (typeof FACES)[number];

export interface Follower {
  readonly ledger: EventLedger;
  /** Nothing is told after the call. */
  stop(): void;
}

const SLOW_MS = 700;

export function follow(informer: Informer<KubernetesObject>, face: Face, clock: Clock): Follower {
  switch (face) {
    case 'handler': {
      const ledger = new EventLedger();
      const registration = informer.handle(ledger.handle, { buffer: 'unbounded' });
      return { ledger, stop: () => void registration.remove() };
    }
    case 'slow handler':
      return slow(informer, clock, 'conflate');
    case 'slow handler that resyncs':
      return slow(informer, clock, 'drop-and-resync');
    case 'observable': {
      const ledger = new EventLedger();
      const subscription = informer.events$.subscribe(ledger.handle);
      return { ledger, stop: () => subscription.unsubscribe() };
    }
    case 'iterable': {
      const ledger = new EventLedger();
      const changes = informer.changes();
      let stopped = false;
      void (async () => {
        for await (const event of changes) if (!stopped) ledger.handle(event);
      })();
      return {
        ledger,
        stop() {
          stopped = true;
          void changes.return?.();
        },
      };
    }
  }
}

/** Three events may wait; the rest is joined. */
function slow(informer: Informer<KubernetesObject>, clock: Clock, overflow: BufferPolicy['overflow']): Follower {
  const ledger = new EventLedger(true);
  const registration = informer.handle(
    async (event) => {
      ledger.handle(event);
      await sleep(clock, SLOW_MS);
    },
    { buffer: { max: 3, overflow } },
  );
  return { ledger, stop: () => void registration.remove() };
}
