// Names the server makes up.
// Upstream: apiserver@v0.30.3:pkg/storage/names/generate.go, apimachinery@v0.30.3:pkg/util/rand/rand.go

const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
const MAX_BASE_LENGTH = 63 - SUFFIX_LENGTH;

/** A number in [0, 1), as `Math.random` gives. */
export type Random = () => number;

export function randomSuffix(random: Random, length: number = SUFFIX_LENGTH): string {
  let text = '';
  for (let at = 0; at < length; at++) text += ALPHABET[Math.floor(random() * ALPHABET.length)];
  return text;
}

/** The base, cut to 58 characters, and five random ones. */
export function generateName(base: string, random: Random): string {
  return base.slice(0, MAX_BASE_LENGTH) + randomSuffix(random);
}

/** A version 4 UUID. */
export function newUid(random: Random): string {
  const digit = (from: number, count: number): string => (from + Math.floor(random() * count)).toString(16);
  return 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, (at) => (at === 'x' ? digit(0, 16) : digit(8, 4)));
}
