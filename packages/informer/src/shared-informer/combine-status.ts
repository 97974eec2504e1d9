// Several reflectors, one answer: what is said of all of them is true of each.
import { compareResourceVersions } from '@kube-rx/apimachinery';
import type { Observable } from 'rxjs';
import type { InformerStatus } from '../reflector/informer-status.ts';
import { combineLatest, map } from '../rx/rxjs.ts';

const ORDER: readonly InformerStatus['phase'][] = [
  'suspended',
  'backing-off',
  'idle',
  'listing',
  'streaming-initial',
  'connecting',
  'watching',
  'stopped',
];

/** The status of the one that is furthest from watching. */
export function combineStatus(all: readonly Observable<InformerStatus>[]): Observable<InformerStatus> {
  if (all.length === 1) return all[0]!;
  return combineLatest(all).pipe(
    map((statuses) =>
      statuses.reduce((worst, each) => (ORDER.indexOf(each.phase) < ORDER.indexOf(worst.phase) ? each : worst)),
    ),
  );
}

export function oldestVersion(versions: readonly string[]): string {
  return versions.reduce((oldest, each) => ((compareResourceVersions(each, oldest) ?? 0) < 0 ? each : oldest));
}

/** Undefined when none has heard anything yet. */
export function oldestActivity(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((each) => each !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
