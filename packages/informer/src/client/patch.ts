// The four kinds of patches and what their bodies look like.
// Upstream: apimachinery@v0.30.3:pkg/types/patch.go#PatchType

/** `json`: a list of operations; `merge`: RFC 7386; `strategic`: lists merged by key, built-in kinds only; `apply`: server-side apply. */
export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

export const PATCH_MEDIA_TYPES: Readonly<Record<PatchType, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  // JSON is YAML, so the text of an object may go under this name.
  apply: 'application/apply-patch+yaml',
};

/** One operation of a JSON patch; `path` and `from` are JSON pointers. */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string };

/** What is given is changed, null takes a field out, lists are replaced as a whole (or merged by key, in a strategic patch). */
export type MergePatch<T> = T extends readonly (infer E)[]
  ? readonly (E | MergePatch<E>)[]
  : T extends object
    ? { readonly [K in keyof T]?: MergePatch<T[K]> | null }
    : T;

export type PatchBody<T> = readonly JsonPatchOperation[] | MergePatch<T>;

/** A list is a JSON patch, anything else a merge patch, unless the caller says otherwise. */
export function patchTypeOf(body: unknown, type: PatchType | undefined): PatchType {
  return type ?? (Array.isArray(body) ? 'json' : 'merge');
}
