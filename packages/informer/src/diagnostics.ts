// Where to look from outside: names of the diagnostics channels and the KUBE_TRACE switch. No Node import: in a browser both
// are silent.

interface Channel {
  readonly hasSubscribers: boolean;
  publish(message: unknown): void;
}
interface NodeProcess {
  readonly env?: Readonly<Record<string, string | undefined>>;
  getBuiltinModule?(name: string): unknown;
  readonly stderr?: { write(text: string): unknown };
}

const SILENT: Channel = { hasSubscribers: false, publish() {} };
const nodeProcess = (globalThis as { process?: NodeProcess }).process;

function channel(name: string): Channel {
  const module = nodeProcess?.getBuiltinModule?.('node:diagnostics_channel') as
    | { channel(name: string): Channel }
    | undefined;
  return module?.channel(name) ?? SILENT;
}

/**
 * Channels of `node:diagnostics_channel`; messages are plain objects with `resource` and what the name says.
 *
 * | name | when |
 * |---|---|
 * | `kube-rx:informer:list` | a LIST is sent |
 * | `kube-rx:informer:watch` | a WATCH is sent |
 * | `kube-rx:informer:replace` | the store was replaced by a list |
 * | `kube-rx:informer:fault` | a fault happened |
 */
export const channels: {
  readonly list: Channel;
  readonly watch: Channel;
  readonly replace: Channel;
  readonly fault: Channel;
} = {
  list: channel('kube-rx:informer:list'),
  watch: channel('kube-rx:informer:watch'),
  replace: channel('kube-rx:informer:replace'),
  fault: channel('kube-rx:informer:fault'),
};

const traced: ReadonlySet<string> = new Set(
  (nodeProcess?.env?.['KUBE_TRACE'] ?? '').split(',').filter((name) => name !== ''),
);

/** Prints a line to stderr when KUBE_TRACE names the component or `all`. */
export function trace(
  component: string,
  id: string,
  message: string,
  fields: Readonly<Record<string, unknown>> = {},
): void {
  if (traced.size === 0 || !(traced.has(component) || traced.has('all'))) return;
  const data = Object.entries(fields).map(
    ([key, value]) => `${key}=${value instanceof Error ? value.message : String(value)}`,
  );
  nodeProcess?.stderr?.write(`${component}{${id}} | ${message}${data.length === 0 ? '' : ` ${data.join(' ')}`}\n`);
}
