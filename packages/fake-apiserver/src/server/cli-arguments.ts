// The command line: flags with upstream's names where upstream has them.
import { OptionsError } from '@kube-rx/apimachinery';
import type { FakeApiServerOptions, ProfileName } from '../options.ts';
import { parseDuration } from './deadline.ts';

export interface CliArguments {
  readonly help: boolean;
  readonly json: boolean;
  readonly kubeconfig: string | undefined;
  readonly load: readonly string[];
  /** `http://host:port` of a real etcd; undefined for the embedded one. */
  readonly etcdServer: string | undefined;
  readonly server: FakeApiServerOptions;
}

export const HELP = `Usage: fake-apiserver [options]

A Kubernetes API server for tests and development. It listens on the loopback interface, over TLS with a certificate
authority of its own, until it gets SIGINT or SIGTERM.

  --port N                          port; 0 takes a free one (default 0)
  --bind-address ADDRESS            address to listen on (default 127.0.0.1)
  --insecure                        plain HTTP instead of TLS
  --token TOKEN                     token of the administrator (default random)
  --kubeconfig FILE                 write a kubeconfig, readable by its owner only (default in a temporary directory)
  --load FILE...                    create the objects of YAML or JSON files
  --profile v1.30|v1.37             Kubernetes version to imitate (default v1.30)
  --feature-gates A=true,B=false    feature gates over those of the profile
  --watch-cache=false               answer everything from storage
  --watch-cache-sizes R#N,...       0 turns the watch cache of a resource off
  --authorization-mode MODE         RBAC or AlwaysAllow (default RBAC)
  --anonymous-auth=false            refuse requests without credentials
  --namespace-controller            empty namespaces that are being deleted, as a cluster does
  --data-dir DIR                    keep the data in a directory (default in memory)
  --etcd-servers URL                a real etcd instead of the embedded one
  --min-request-timeout SECONDS     lower bound of watches that name no timeout (default 1800)
  --request-timeout DURATION        bound of all other requests (default 60s)
  --event-ttl DURATION              life of events (default 1h)
  --etcd-compaction-interval DUR    interval of compactions, 0 for none (default 5m)
  --goaway-chance P                 chance that an HTTP/2 connection is told to go away (default 0)
  --json                            first line of output is {"url":...,"token":...,"kubeconfig":...}
  --help                            this text
`;

/** Throws an OptionsError for a flag that is unknown or has a bad value. */
export function parseArguments(argv: readonly string[]): CliArguments {
  const server: { -readonly [K in keyof FakeApiServerOptions]: FakeApiServerOptions[K] } = {};
  const load: string[] = [];
  let help = false;
  let json = false;
  let kubeconfig: string | undefined;
  let etcdServer: string | undefined;
  const args = new Arguments(argv);
  for (let flag = args.next(); flag !== undefined; flag = args.next()) {
    switch (flag) {
      case '--help':
      case '-h':
        help = true;
        break;
      case '--json':
        json = args.boolean();
        break;
      case '--port':
      case '--secure-port':
        server.port = args.number();
        break;
      case '--bind-address':
      case '--host':
        server.host = args.value();
        break;
      case '--insecure':
        server.insecure = args.boolean();
        break;
      case '--token':
        server.token = args.value();
        break;
      case '--kubeconfig':
        kubeconfig = args.value();
        break;
      case '--load':
        load.push(...args.values());
        break;
      case '--profile':
        server.profile = args.value() as ProfileName;
        break;
      case '--feature-gates':
        server.featureGates = { ...server.featureGates, ...args.pairs('=', (text) => truth(flag!, text)) };
        break;
      case '--watch-cache':
        server.watchCache = args.boolean();
        break;
      case '--watch-cache-sizes':
        server.watchCacheSizes = { ...server.watchCacheSizes, ...args.pairs('#', Number) };
        break;
      case '--authorization-mode':
        server.authorization = args.value().split(',').includes('AlwaysAllow') ? 'AlwaysAllow' : (args.last as 'RBAC');
        break;
      case '--anonymous-auth':
        server.anonymousAuth = args.boolean();
        break;
      case '--namespace-controller':
        server.namespaceController = args.boolean();
        break;
      case '--data-dir':
        server.dataDir = args.value();
        break;
      case '--etcd-servers':
        etcdServer = args.value();
        break;
      case '--min-request-timeout':
        server.minRequestTimeoutMs = args.number() * 1000;
        break;
      case '--request-timeout':
        server.requestTimeoutMs = args.duration();
        break;
      case '--event-ttl':
        server.eventTtlSeconds = args.duration() / 1000;
        break;
      case '--etcd-compaction-interval':
        server.etcdCompactionIntervalMs = args.duration();
        break;
      case '--goaway-chance':
        server.goawayChance = args.number();
        break;
      default:
        throw new OptionsError(flag, args.inline ?? '', 'an option of this command (see --help)');
    }
  }
  if (etcdServer !== undefined && server.dataDir !== undefined) {
    throw new OptionsError('--data-dir', server.dataDir, 'left out when --etcd-servers is given');
  }
  return { help, json, kubeconfig, load, etcdServer, server };
}

function truth(flag: string, text: string): boolean {
  if (['true', '1', 't', 'T', 'TRUE', 'True'].includes(text)) return true;
  if (['false', '0', 'f', 'F', 'FALSE', 'False'].includes(text)) return false;
  throw new OptionsError(flag, text, 'true or false');
}

/** `--flag value`, `--flag=value`, and bare `--flag` for switches. */
class Arguments {
  readonly #argv: readonly string[];
  #at = 0;
  #flag = '';
  /** The value behind an equals sign. */
  inline: string | undefined;
  last = '';

  constructor(argv: readonly string[]) {
    this.#argv = argv;
  }

  next(): string | undefined {
    const word = this.#argv[this.#at++];
    if (word === undefined) return undefined;
    const cut = word.startsWith('--') ? word.indexOf('=') : -1;
    this.#flag = cut < 0 ? word : word.slice(0, cut);
    this.inline = cut < 0 ? undefined : word.slice(cut + 1);
    return this.#flag;
  }

  value(): string {
    const value = this.inline ?? this.#argv[this.#at];
    if (value === undefined || value === '' || (this.inline === undefined && value.startsWith('--'))) {
      throw new OptionsError(this.#flag, value ?? '', 'followed by a value');
    }
    if (this.inline === undefined) this.#at += 1;
    this.last = value;
    return value;
  }

  /** One value, with commas in it, and everything up to the next flag. */
  values(): readonly string[] {
    const values = this.value().split(',');
    while (this.#at < this.#argv.length && !this.#argv[this.#at]!.startsWith('-')) {
      values.push(...this.#argv[this.#at++]!.split(','));
    }
    return values;
  }

  boolean(): boolean {
    return this.inline === undefined ? true : truth(this.#flag, this.inline);
  }

  number(): number {
    const text = this.value();
    const value = Number(text);
    if (!Number.isFinite(value)) throw new OptionsError(this.#flag, text, 'a number');
    return value;
  }

  duration(): number {
    const text = this.value();
    try {
      return parseDuration(text);
    } catch (cause) {
      throw new OptionsError(this.#flag, text, 'a duration like 30s or 5m', { cause });
    }
  }

  pairs<T>(separator: string, read: (text: string) => T): Readonly<Record<string, T>> {
    const entries = this.value()
      .split(',')
      .map((pair): [string, T] => {
        const cut = pair.indexOf(separator);
        if (cut <= 0) throw new OptionsError(this.#flag, pair, `pairs like NAME${separator}VALUE`);
        return [pair.slice(0, cut), read(pair.slice(cut + 1))];
      });
    return Object.fromEntries(entries);
  }
}
