// The wait behind `whenSynced`: for the first list, or for a version that was just written.
import type { Clock } from '@kube-rx/apimachinery';
import { compareResourceVersions } from '@kube-rx/apimachinery';
import { WaitError } from '../errors.ts';
import type { Fault, InformerStatus } from '../reflector/informer-status.ts';
import { childSignal } from '../rest/child-signal.ts';
import type { WhenSyncedOptions } from './informer.ts';
import type { WaitSet } from './wait-set.ts';

export interface SyncProbe {
  readonly waits: WaitSet;
  readonly clock: Clock;
  readonly name: string;
  readonly hasSynced: () => boolean;
  readonly stopped: () => boolean;
  readonly status: () => InformerStatus;
  readonly lastFault: () => Fault | undefined;
  /** Versions that the reflectors have reached. */
  readonly versions: () => readonly string[];
}

// A write that changed nothing, or an object outside the selector, never shows up.
const DEFAULT_VERSION_TIMEOUT_MS = 5000;

export async function untilSynced(probe: SyncProbe, options: WhenSyncedOptions): Promise<void> {
  const { requireVersion, failFast = [] } = options;
  const timeoutMs = options.timeoutMs ?? (requireVersion === undefined ? 0 : DEFAULT_VERSION_TIMEOUT_MS);
  const child = childSignal(options.signal);
  const timer =
    timeoutMs > 0
      ? probe.clock.setTimer(
          () => child.abort(new WaitError('TIMED_OUT', describe(probe, `not synced within ${timeoutMs} ms`))),
          timeoutMs,
        )
      : undefined;
  try {
    await probe.waits.until(
      () => {
        if (
          probe.hasSynced() &&
          (requireVersion === undefined || probe.versions().every((each) => reached(each, requireVersion)))
        )
          return true;
        if (probe.stopped()) return new WaitError('NOT_SYNCED', describe(probe, 'stopped before it had synced'));
        const status = probe.status();
        if (status.phase === 'suspended' && failFast.includes(status.fault.kind)) {
          return new WaitError('SYNC_REFUSED', describe(probe, 'is suspended'), { cause: status.fault.error });
        }
        return undefined;
      },
      {
        signal: child.signal,
        onAbort: (reason) =>
          reason instanceof WaitError
            ? reason
            : new WaitError('NOT_SYNCED', describe(probe, 'not synced when the wait was aborted'), { cause: reason }),
      },
    );
  } finally {
    timer?.cancel();
    child.release();
  }
}

function reached(version: string, required: string): boolean {
  return version === required || (compareResourceVersions(version, required) ?? -1) >= 0;
}

function describe(probe: SyncProbe, what: string): string {
  const fault = probe.lastFault();
  if (fault === undefined) return `${probe.name}: ${what}`;
  const why = fault.error === undefined ? '' : `: ${fault.error.message}`;
  return `${probe.name}: ${what}; last fault: ${fault.kind} (${fault.verb}${why})`;
}
