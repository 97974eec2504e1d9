// Events of events.k8s.io/v1 are core events under other names.
// Upstream: kubernetes@v1.30.3:pkg/apis/events/v1/conversion.go
import type { Conversion } from '../conversion.ts';
import { type Draft, put } from '../draft.ts';

/** Name in events.k8s.io/v1, name in core/v1. */
const RENAMED: readonly (readonly [string, string])[] = [
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['reportingController', 'reportingComponent'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
];

function rename(object: Draft, from: 0 | 1, to: 0 | 1): Draft {
  for (const pair of RENAMED) {
    const [old, next] = [pair[from], pair[to]];
    if (!Object.hasOwn(object, old)) continue;
    put(object, next, object[old]);
    delete object[old];
  }
  return object;
}

export const eventConversion: Conversion = {
  toStorage(object) {
    object['apiVersion'] = 'v1';
    return rename(object, 0, 1);
  },
  fromStorage(object) {
    object['apiVersion'] = 'events.k8s.io/v1';
    return rename(object, 1, 0);
  },
};
