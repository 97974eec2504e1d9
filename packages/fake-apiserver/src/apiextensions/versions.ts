// The order of API versions: v2, v1, v1beta2, v1beta1, v1alpha1, then other names.
// Upstream: apimachinery@v0.30.3:pkg/version/helpers.go#CompareKubeAwareVersionStrings

const VERSION = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/;
const STAGE: Readonly<Record<string, number>> = { alpha: 0, beta: 1 };

/** Negative when `a` is the lesser version, so that sorting by it ends with the best. */
export function compareKubeAwareVersions(a: string, b: string): number {
  if (a === b) return 0;
  const [left, right] = [VERSION.exec(a), VERSION.exec(b)];
  if (left === null && right === null) return a < b ? 1 : -1;
  if (left === null) return -1;
  if (right === null) return 1;
  const stage = (match: RegExpExecArray): number => (match[2] === undefined ? 2 : STAGE[match[2]]!);
  return (
    stage(left) - stage(right) || Number(left[1]) - Number(right[1]) || Number(left[3] ?? 0) - Number(right[3] ?? 0)
  );
}
