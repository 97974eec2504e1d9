// CPU and memory of a process as Linux counts them; undefined elsewhere.
import { readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;

/** User and system, in seconds. */
export function cpuSeconds(pid: number): number | undefined {
  const stat = read(pid, 'stat');
  if (stat === undefined) return undefined;
  // The name of the program may have spaces; what counts comes after its bracket.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** `VmRSS` now, `VmHWM` at its peak; in KiB. */
export function memoryKib(pid: number, key: 'VmRSS' | 'VmHWM'): number | undefined {
  const status = read(pid, 'status');
  const found = status === undefined ? null : new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(status);
  return found === null ? undefined : Number(found[1]);
}

function read(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}
