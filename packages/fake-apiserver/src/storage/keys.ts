// Storage paths: what may be one, and how a prefix of a list looks.
// Upstream: apiserver@v0.30.3:pkg/storage/etcd3/store.go#prepareKey
import { goQuote } from '@kube-rx/apimachinery';

/** @throws Error for a path that could name something outside its place */
export function prepareKey(key: string): string {
  if (key === '' || key === '/') throw new Error(`empty key: ${goQuote(key)}`);
  // Names may begin with a dot, but few do.
  if (key.startsWith('.') || key.includes('/.')) {
    for (const part of key.split('/')) {
      if (part === '.' || part === '..') throw new Error(`invalid key: ${goQuote(key)}`);
    }
  }
  return key;
}

/** A list prefix ends in a slash, so that `a` never matches what is below `ab`. */
export function preparePrefix(key: string): string {
  const prepared = prepareKey(key);
  return prepared.endsWith('/') ? prepared : `${prepared}/`;
}
