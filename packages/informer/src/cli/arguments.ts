// The command line, without touching the process.
import { OptionsError } from '@kube-rx/apimachinery';
import type { InitialMode } from '../reflector/reflector-policy.ts';

export interface WatchArguments {
  readonly command: 'watch';
  /** As given: `pods`, `deploy,svc`, `pods/web`, `widgets.example.com`, `all`. */
  readonly resources: readonly string[];
  readonly connection: ConnectionArguments;
  /** Empty for all. */
  readonly namespaces: readonly string[];
  readonly allNamespaces: boolean;
  readonly labelSelector: string | undefined;
  readonly fieldSelector: string | undefined;
  readonly metadataOnly: boolean;
  readonly initial: InitialMode;
  readonly transport: 'http' | 'http2' | 'websocket';
  readonly json: boolean;
  readonly diff: boolean;
  readonly showInitial: boolean;
  readonly explain: boolean;
  readonly seconds: number | undefined;
}

export interface ConnectionArguments {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly server: string | undefined;
  readonly token: string | undefined;
  /** PEM file. */
  readonly certificateAuthority: string | undefined;
  readonly insecureSkipTlsVerify: boolean;
}

export type CliArguments = WatchArguments | { readonly command: 'help' } | { readonly command: 'version' };

export const HELP = `Usage: kube-informer watch RESOURCE... [options]

Follows objects of a cluster through lost connections, restarts and compactions, and prints what changes, field by field.
RESOURCE is a plural, singular or short name or a kind, with a group where it must be clear (deployments.apps,
widgets.example.com), a list (pods,svc), one object (pods/web) or a category (all).

  -n, --namespace NAME              namespace; may be given several times (default that of the context)
  -A, --all-namespaces              every namespace
  -l, --selector QUERY              label selector, as in app=web,tier!=back
      --field-selector QUERY        field selector, as in spec.nodeName=worker-1
      --initial                     print the objects that are there at the start too
      --no-diff                     print that an object changed, not what
      --json                        one JSON object a line
      --explain                     say what the informer does and why: lists, watches, waits and their reasons
      --seconds N                   end after so long (default: at SIGINT or SIGTERM)
      --metadata-only               ask the server for the metadata of the objects alone
      --watch-list                  stream the first list without asking whether the server can (default: ask)
      --transport NAME              http (default), http2 (all on one connection), websocket (for watches)
      --kubeconfig FILE             (default the files of KUBECONFIG, else ~/.kube/config, else the pod's account)
      --context NAME                context of the kubeconfig (default the current one)
      --server URL                  this server instead of a kubeconfig
      --token TOKEN                 bearer token for --server
      --certificate-authority FILE  whom to trust, for --server (PEM)
      --insecure-skip-tls-verify    do not check the certificate of --server
      --help, --version
`;

/** Throws an OptionsError for a flag that is unknown or has a bad value. */
export function parseArguments(argv: readonly string[]): CliArguments {
  const flags = new Flags(argv);
  const resources: string[] = [];
  const namespaces: string[] = [];
  const result: { -readonly [K in keyof WatchArguments]?: WatchArguments[K] } = {};
  const connection: { -readonly [K in keyof ConnectionArguments]?: ConnectionArguments[K] } = {};
  for (let flag = flags.next(); flag !== undefined; flag = flags.next()) {
    switch (flag) {
      case '--help':
      case '-h':
        return { command: 'help' };
      case '--version':
        return { command: 'version' };
      case '-n':
      case '--namespace':
        namespaces.push(...flags.value().split(',').filter(Boolean));
        break;
      case '-A':
      case '--all-namespaces':
        result.allNamespaces = true;
        break;
      case '-l':
      case '--selector':
        result.labelSelector = flags.value();
        break;
      case '--field-selector':
        result.fieldSelector = flags.value();
        break;
      case '--initial':
        result.showInitial = true;
        break;
      case '--diff':
        result.diff = true;
        break;
      case '--no-diff':
        result.diff = false;
        break;
      case '--json':
        result.json = true;
        break;
      case '--explain':
        result.explain = true;
        break;
      case '--seconds':
        result.seconds = flags.positive();
        break;
      case '--metadata-only':
        result.metadataOnly = true;
        break;
      case '--watch-list':
        result.initial = 'watch-list';
        break;
      case '--transport':
        result.transport = flags.oneOf(['http', 'http2', 'websocket']);
        break;
      case '--kubeconfig':
        connection.kubeconfig = flags.value();
        break;
      case '--context':
        connection.context = flags.value();
        break;
      case '-s':
      case '--server':
        connection.server = flags.value();
        break;
      case '--token':
        connection.token = flags.value();
        break;
      case '--certificate-authority':
        connection.certificateAuthority = flags.value();
        break;
      case '--insecure-skip-tls-verify':
        connection.insecureSkipTlsVerify = true;
        break;
      default:
        if (flag.startsWith('-') && flag !== '-')
          throw new OptionsError(flag, flag, 'an option that exists; see --help');
        resources.push(flag);
    }
    flags.done();
  }
  const [command, ...given] = resources;
  if (command === undefined) return { command: 'help' };
  if (command === 'help') return { command };
  if (command === 'version') return { command };
  if (command !== 'watch') throw new OptionsError('command', command, '"watch"');
  const names = given.flatMap((each) => each.split(',')).filter(Boolean);
  if (names.length === 0) throw new OptionsError('RESOURCE', undefined, 'at least one resource, for example pods');
  return {
    command,
    resources: names,
    connection: {
      kubeconfig: connection.kubeconfig,
      context: connection.context,
      server: connection.server,
      token: connection.token,
      certificateAuthority: connection.certificateAuthority,
      insecureSkipTlsVerify: connection.insecureSkipTlsVerify ?? false,
    },
    namespaces,
    allNamespaces: result.allNamespaces ?? false,
    labelSelector: result.labelSelector,
    fieldSelector: result.fieldSelector,
    metadataOnly: result.metadataOnly ?? false,
    initial: result.initial ?? 'auto',
    transport: result.transport ?? 'http',
    json: result.json ?? false,
    diff: result.diff ?? true,
    showInitial: result.showInitial ?? false,
    explain: result.explain ?? false,
    seconds: result.seconds,
  };
}

/** Walks over the words; a value stands behind its flag or after an equals sign. */
class Flags {
  readonly #words: readonly string[];
  #index = 0;
  #flag = '';
  #inline: string | undefined;

  constructor(words: readonly string[]) {
    this.#words = words;
  }

  next(): string | undefined {
    const word = this.#words[this.#index++];
    if (word === undefined) return undefined;
    const equals = word.startsWith('--') ? word.indexOf('=') : -1;
    this.#inline = equals < 0 ? undefined : word.slice(equals + 1);
    this.#flag = equals < 0 ? word : word.slice(0, equals);
    return this.#flag;
  }

  value(): string {
    const value = this.#inline ?? this.#words[this.#index++];
    this.#inline = undefined;
    if (value === undefined || value === '') throw new OptionsError(this.#flag, value, 'followed by a value');
    return value;
  }

  positive(): number {
    const text = this.value();
    const value = Number(text);
    if (!(value > 0)) throw new OptionsError(this.#flag, text, 'a number above 0');
    return value;
  }

  oneOf<T extends string>(known: readonly T[]): T {
    const text = this.value();
    const found = known.find((each) => each === text);
    if (found === undefined) throw new OptionsError(this.#flag, text, `one of ${known.join(', ')}`);
    return found;
  }

  /** A flag without a value must not have been given one. */
  done(): void {
    if (this.#inline !== undefined) throw new OptionsError(this.#flag, this.#inline, 'given without a value');
  }
}
