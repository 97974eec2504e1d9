// A verdict that can be asked for and trusted: is this cache alive, and if not, why.
import type { Clock, KubernetesObject } from '@kube-rx/apimachinery';
import { realClock } from '@kube-rx/apimachinery';
import type { Informer } from './informer.ts';

export interface InformerHealth {
  readonly healthy: boolean;
  /** Why not; empty when healthy. */
  readonly reasons: readonly string[];
  readonly phase: string;
  readonly hasSynced: boolean;
  /** Since the last whole list was in the store, ms; undefined before the first. A watch that goes well makes it grow. */
  readonly syncedForMs: number | undefined;
  /** Since the last byte from the server, ms; undefined before the first. */
  readonly silentForMs: number | undefined;
}

export interface InformerHealthOptions {
  /** Silence above which a watch is not believed, ms. @defaultValue 630 000, the longest watch timeout and a margin */
  readonly maxSilenceMs?: number | undefined;
  readonly clock?: Clock | undefined;
}

/** A back-off alone is healthy as long as the cache has synced and the silence is not too long: it is being healed. */
export function informerHealth<T extends KubernetesObject>(
  informer: Informer<T, never>,
  options: InformerHealthOptions = {},
): InformerHealth {
  const { maxSilenceMs = 630_000, clock = realClock } = options;
  const { status, hasSynced, lastActivity, lastSync } = informer;
  const age = (at: number | undefined): number | undefined => (at === undefined ? undefined : clock.now() - at);
  const silentForMs = age(lastActivity);
  const reasons: string[] = [];
  if (!hasSynced) reasons.push('not synced');
  if (informer.isStopped) reasons.push('stopped');
  if (status.phase === 'suspended' || (status.phase === 'backing-off' && !hasSynced)) {
    reasons.push(`${status.phase}: ${status.fault.kind} (${status.fault.error?.message ?? status.fault.verb})`);
  }
  if (silentForMs !== undefined && silentForMs > maxSilenceMs)
    reasons.push(`silent for ${Math.round(silentForMs / 1000)} s`);
  return {
    healthy: reasons.length === 0,
    reasons,
    phase: status.phase,
    hasSynced,
    syncedForMs: age(lastSync),
    silentForMs,
  };
}
