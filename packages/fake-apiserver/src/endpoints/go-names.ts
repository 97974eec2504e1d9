// Go package names that show in upstream's messages.

const SPECIAL: Readonly<Record<string, string>> = {
  '': 'core',
  'events.k8s.io': 'core',
  'internal.apiserver.k8s.io': 'apiserverinternal',
};

/** Package of the internal types of a group: `core`, `apps`, `networking`. */
export function goPackageOf(group: string): string {
  return SPECIAL[group] ?? group.split('.', 1)[0]!;
}
