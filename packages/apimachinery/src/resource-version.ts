// Resource versions: opaque strings outside the server. Upstream compares them only where this module does.

/** The resource version of an object or list, '' when it has none. */
export function resourceVersionOf(object: {
  readonly metadata?: { readonly resourceVersion?: string | undefined } | undefined;
}): string {
  return object.metadata?.resourceVersion ?? '';
}

/**
 * Compares two resource versions as the decimal integers that Kubernetes 1.35 promises they are: negative when `a` is
 * older. Undefined when one of them is no canonical decimal number, so that a caller must decide what "unknown" means.
 *
 * Upstream: apimachinery@v0.35.0:pkg/util/resourceversion/resourceversion.go#CompareResourceVersion
 */
export function compareResourceVersions(a: string, b: string): number | undefined {
  if (!/^[1-9][0-9]*$/.test(a) || !/^[1-9][0-9]*$/.test(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}
