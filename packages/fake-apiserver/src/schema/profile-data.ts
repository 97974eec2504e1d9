// The recorded facts of one Kubernetes version, read from `data/` on first use and shared by all servers of the process.
// Only immutable data is cached here, so nothing leaks from one server to another.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Names a folder of `data/`. */
export type DataProfile = 'v1.30' | 'v1.37';

const KNOWN: ReadonlySet<string> = new Set<DataProfile>(['v1.30', 'v1.37']);
const cache = new Map<string, unknown>();

function dataPath(profile: DataProfile, file: string): string {
  // Both src/schema and dist/schema are two levels below the package.
  return fileURLToPath(new URL(`../../data/${profile}/${file}`, import.meta.url));
}

/**
 * A value computed once per process from the data of a profile.
 *
 * @throws RangeError for a profile nobody recorded.
 */
export function loadOnce<T>(profile: DataProfile, name: string, load: () => T): T {
  if (!KNOWN.has(profile)) throw new RangeError(`no recorded data for profile "${profile}"`);
  const key = `${profile}/${name}`;
  if (!cache.has(key)) cache.set(key, load());
  return cache.get(key) as T;
}

/** The parsed content of one data file; treat it as read-only. */
export function readData<T>(profile: DataProfile, file: string): T {
  return loadOnce(profile, file, () => JSON.parse(readFileSync(dataPath(profile, file), 'utf8')) as T);
}

/** Like {@link readData}, undefined when the profile was recorded without that file. */
export function readOptionalData<T>(profile: DataProfile, file: string): T | undefined {
  return loadOnce(profile, file, () => {
    try {
      return JSON.parse(readFileSync(dataPath(profile, file), 'utf8')) as T;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  });
}
