// What somebody believes who knows nothing but the calls of one handler.
import type { Lines } from './scenario.ts';

const CALL = /^(add|update|delete) (\S+) (?:(\S*)->)?(\S*)/;

/** In the form of a transcript's store. Throws at a call that does not follow from those before it. */
export function replay(calls: Lines): readonly string[] {
  if (!('map' in calls)) throw new Error('only a digest of the calls is left');
  const state = new Map<string, string>();
  for (const line of calls) {
    const [, operation, key = '', previous, version = ''] = CALL.exec(line) ?? [];
    const known = state.get(key);
    const follows = operation === 'add' ? known === undefined : known !== undefined;
    if (!follows || (operation === 'update' && previous !== known)) {
      throw new Error(`"${line}" does not follow from ${known === undefined ? 'nothing' : known}`);
    }
    if (operation === 'delete') state.delete(key);
    else state.set(key, version);
  }
  return [...state].map(([key, version]) => `${key} ${version}`).sort();
}
