// JSON merge patch (RFC 7386).
// Upstream: evanphx/json-patch@v4.12.0:merge.go#MergePatch
import { setOwn } from '../schema/json-reader.ts';
import { isObject, type JsonObject, own, sortedEntries } from './json-value.ts';
import { PatchError } from './patch-error.ts';

/**
 * The document with the patch merged in: null removes, objects merge, everything else replaces. The inputs stay as they are.
 *
 * @throws PatchError `bad-request` for a patch that is no object or list.
 */
export function applyMergePatch(document: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null) throw new PatchError('bad-request', 'Invalid JSON Patch');
  return isObject(patch) ? merge(document, patch) : pruneNulls(patch);
}

function merge(document: unknown, patch: unknown): unknown {
  if (!isObject(document)) return pruneNulls(patch);
  // NB: over an object a list or scalar is taken as it is, with the nulls inside.
  if (!isObject(patch)) return patch;
  const merged: JsonObject = {};
  for (const key of Object.keys(document)) setOwn(merged, key, document[key]);
  for (const key of Object.keys(patch)) {
    const value = patch[key];
    const current = own(document, key);
    if (value === null) delete merged[key];
    else setOwn(merged, key, current === undefined || current === null ? pruneNulls(value) : merge(current, value));
  }
  const out: JsonObject = {};
  for (const [key, value] of sortedEntries(merged)) setOwn(out, key, value);
  return out;
}

/** Nulls in objects mean nothing where there is nothing to remove; in lists they stay. */
function pruneNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pruneNulls);
  if (!isObject(value)) return value;
  const out: JsonObject = {};
  for (const [key, item] of sortedEntries(value)) if (item !== null) setOwn(out, key, pruneNulls(item));
  return out;
}
