// How objects of one served version become objects of the stored one, and back.
import type { Draft } from './draft.ts';

export interface Conversion {
  /** May change its argument. */
  toStorage(object: Draft): Draft;
  /** May change its argument. */
  fromStorage(object: Draft): Draft;
}
