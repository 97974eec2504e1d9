// Several reflectors, one status: the one that is furthest from watching.
import type { Observable } from 'rxjs';
import { combineLatest, map } from 'rxjs';
import type { InformerStatus } from '../reflector/informer-status.ts';

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

export function combineStatus(all: readonly Observable<InformerStatus>[]): Observable<InformerStatus> {
  if (all.length === 1) return all[0]!;
  return combineLatest(all).pipe(
    map((statuses) =>
      statuses.reduce((worst, each) => (ORDER.indexOf(each.phase) < ORDER.indexOf(worst.phase) ? each : worst)),
    ),
  );
}
