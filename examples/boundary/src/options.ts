// The command line: what may be given, what it means, and one line for what is wrong with it.
import { parseArgs } from 'node:util';

export interface BoundaryOptions {
  /** Files or folders; empty means the samples of this example. */
  readonly manifests: readonly string[];
  /** Watch this cluster instead of a server of our own. */
  readonly cluster: ClusterOptions | undefined;
  /** Plural or kind, optionally with a group: `pods`, `Deployment`, `deployments.apps`. Empty means every kind with objects. */
  readonly kinds: readonly string[];
  /** Undefined: until interrupted. */
  readonly seconds: number | undefined;
  readonly json: boolean;
  /** Of our own server; 0 takes a free one. */
  readonly port: number;
  readonly seed: number;
}

export interface ClusterOptions {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly server: string | undefined;
  readonly token: string | undefined;
  readonly certificateAuthority: string | undefined;
  readonly insecureSkipTlsVerify: boolean;
}

/** Something the user can put right; its message is all that is shown. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export const HELP = `npm start -- [options]

Starts an API server on a free loopback port, loads objects, runs a shared informer per kind, keeps changing objects and
plays the faults of the watch boundary on a loop. Shows what the informers see and how they recover.

What is loaded:
  --manifests PATH...        YAML or JSON files, or folders of them (default: the samples in examples/boundary/manifests)
  --port N                   port of the server (default: a free one)
  --seed N                   of the random changes (default: 1)

Or watch a cluster that exists; nothing is written to it:
  --kubeconfig PATH          (default: KUBECONFIG, ~/.kube/config)
  --context NAME
  --server URL               no kubeconfig; with --token T, --certificate-authority FILE, --insecure-skip-tls-verify

What is watched:
  --kinds A,B,...            pods, Deployment, deployments.apps, ... (default: every kind that has objects)

How it ends and what it prints:
  --seconds N                ends after N seconds, compares every cache with a fresh list; exit code 1 if one differs
  --json                     events as JSON lines, a summary as the last line
  --help
`;

const LIST_OPTIONS: ReadonlySet<string> = new Set(['--manifests', '--kinds']);

/** Undefined when help was asked for. Throws a UsageError. */
export function parseOptions(argv: readonly string[]): BoundaryOptions | undefined {
  const values = parse(argv);
  if (values.help) return undefined;
  const cluster = clusterOf(values);
  const manifests = values.manifests ?? [];
  if (cluster !== undefined) {
    if (manifests.length > 0) {
      throw new UsageError(
        '--manifests needs a server of our own: a cluster given by --server, --kubeconfig or --context is only read',
      );
    }
    if (values.port !== undefined)
      throw new UsageError('--port is for a server of our own, not for a cluster that exists');
  }
  return {
    manifests,
    cluster,
    kinds: (values.kinds ?? []).flatMap((text) => text.split(',')).filter((text) => text !== ''),
    seconds: values.seconds === undefined ? undefined : numberOf('--seconds', values.seconds, 0.1, 1e6),
    json: values.json ?? false,
    port: values.port === undefined ? 0 : integerOf('--port', values.port, 0, 65_535),
    seed: values.seed === undefined ? 1 : integerOf('--seed', values.seed, 0, 2 ** 32 - 1),
  };
}

interface RawOptions {
  readonly manifests?: string[];
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly server?: string;
  readonly token?: string;
  readonly 'certificate-authority'?: string;
  readonly 'insecure-skip-tls-verify'?: boolean;
  readonly kinds?: string[];
  readonly seconds?: string;
  readonly json?: boolean;
  readonly port?: string;
  readonly seed?: string;
  readonly help?: boolean;
}

function parse(argv: readonly string[]): RawOptions {
  try {
    return parseArgs({
      args: repeatListOptions(argv),
      allowPositionals: false,
      options: {
        manifests: { type: 'string', multiple: true },
        kubeconfig: { type: 'string' },
        context: { type: 'string' },
        server: { type: 'string' },
        token: { type: 'string' },
        'certificate-authority': { type: 'string' },
        'insecure-skip-tls-verify': { type: 'boolean' },
        kinds: { type: 'string', multiple: true },
        seconds: { type: 'string' },
        json: { type: 'boolean' },
        port: { type: 'string' },
        seed: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    const [firstSentence] = (error as Error).message.split(/\.(?:\s|$)/);
    throw new UsageError(`${firstSentence}; --help lists the options`, { cause: error });
  }
}

/** `--manifests a b` means `--manifests a --manifests b`. */
function repeatListOptions(argv: readonly string[]): string[] {
  const args: string[] = [];
  let list: string | undefined;
  let isFirst = false;
  for (const arg of argv) {
    if (arg.startsWith('-')) {
      list = LIST_OPTIONS.has(arg) ? arg : undefined;
      isFirst = true;
      args.push(arg);
    } else {
      if (list !== undefined && !isFirst) args.push(list);
      isFirst = false;
      args.push(arg);
    }
  }
  return args;
}

function clusterOf(values: RawOptions): ClusterOptions | undefined {
  const { kubeconfig, context, server, token, 'certificate-authority': certificateAuthority } = values;
  const insecureSkipTlsVerify = values['insecure-skip-tls-verify'] ?? false;
  if (server !== undefined) {
    if (kubeconfig !== undefined || context !== undefined) {
      throw new UsageError('--server stands alone: give either a URL or a kubeconfig');
    }
    checkUrl(server);
  } else if (token !== undefined || certificateAuthority !== undefined || insecureSkipTlsVerify) {
    throw new UsageError('--token, --certificate-authority and --insecure-skip-tls-verify go with --server');
  } else if (kubeconfig === undefined && context === undefined) {
    return undefined;
  }
  return { kubeconfig, context, server, token, certificateAuthority, insecureSkipTlsVerify };
}

function checkUrl(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new UsageError(`--server must be an http or https URL, not ${JSON.stringify(text)}`);
  }
}

function numberOf(name: string, text: string, low: number, high: number): number {
  const value = /^[0-9]+(\.[0-9]+)?$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= low && value <= high)) {
    throw new UsageError(`${name} must be a number from ${low} to ${high}, not ${JSON.stringify(text)}`);
  }
  return value;
}

function integerOf(name: string, text: string, low: number, high: number): number {
  const value = numberOf(name, text, low, high);
  if (!Number.isInteger(value)) throw new UsageError(`${name} must be a whole number, not ${JSON.stringify(text)}`);
  return value;
}
