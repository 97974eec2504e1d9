// The kubeconfig format: parsing, and merging of several files. No file access.
// Upstream: client-go@v0.30.3:tools/clientcmd/api/v1/types.go, tools/clientcmd/loader.go#ClientConfigLoadingRules
import { ConfigError } from '../errors.ts';

export interface ClusterEntry {
  readonly server: string;
  readonly tlsServerName?: string | undefined;
  readonly insecureSkipTlsVerify: boolean;
  /** PEM text. */
  readonly caData?: string | undefined;
  readonly caFile?: string | undefined;
  readonly proxyUrl?: string | undefined;
  /** What the cluster tells exec plugins: its extension `client.authentication.k8s.io/exec`. */
  readonly execConfig?: unknown;
  readonly disableCompression: boolean;
}

export interface ExecEntry {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly apiVersion: string;
  readonly installHint?: string | undefined;
  readonly provideClusterInfo: boolean;
  readonly interactiveMode: 'Never' | 'IfAvailable' | 'Always';
  /** Directory for a relative command. */
  readonly directory: string;
}

export interface UserEntry {
  readonly certData?: string | undefined;
  readonly certFile?: string | undefined;
  readonly keyData?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly token?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly exec?: ExecEntry | undefined;
  readonly impersonateUser?: string | undefined;
  readonly impersonateUid?: string | undefined;
  readonly impersonateGroups: readonly string[];
  readonly impersonateExtra: Readonly<Record<string, readonly string[]>>;
}

export interface ContextEntry {
  readonly cluster: string;
  readonly user: string;
  readonly namespace?: string | undefined;
}

export interface Kubeconfig {
  readonly currentContext: string;
  readonly clusters: ReadonlyMap<string, ClusterEntry>;
  readonly users: ReadonlyMap<string, UserEntry>;
  readonly contexts: ReadonlyMap<string, ContextEntry>;
}

export interface ParseOptions {
  /** Text to data: `parse` of the package yaml. */
  readonly parseYaml: (text: string) => unknown;
  /** Named in errors. */
  readonly file: string;
  /** Makes a path of the file absolute. */
  readonly resolvePath: (path: string) => string;
  readonly directory: string;
}

export const EMPTY_KUBECONFIG: Kubeconfig = {
  currentContext: '',
  clusters: new Map(),
  users: new Map(),
  contexts: new Map(),
};

/** Reads one file. Throws a ConfigError that names file and field. */
export function parseKubeconfig(text: string, options: ParseOptions): Kubeconfig {
  let value: unknown;
  try {
    value = options.parseYaml(text);
  } catch (cause) {
    throw new ConfigError('BAD_KUBECONFIG', `${options.file}: ${(cause as Error).message}`, { cause });
  }
  if (value === null || value === undefined) return EMPTY_KUBECONFIG;
  const root = new Fields(value, options.file, '');
  return {
    currentContext: root.text('current-context') ?? '',
    clusters: named(root, 'clusters', 'cluster', (fields) => cluster(fields, options)),
    users: named(root, 'users', 'user', (fields) => user(fields, options)),
    contexts: named(root, 'contexts', 'context', context),
  };
}

/** Of several files the first wins, for each name and for the current context. */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const merge = <V>(pick: (config: Kubeconfig) => ReadonlyMap<string, V>): Map<string, V> => {
    const all = new Map<string, V>();
    for (const config of configs) for (const [name, each] of pick(config)) if (!all.has(name)) all.set(name, each);
    return all;
  };
  return {
    currentContext: configs.find((config) => config.currentContext !== '')?.currentContext ?? '',
    clusters: merge((config) => config.clusters),
    users: merge((config) => config.users),
    contexts: merge((config) => config.contexts),
  };
}

function cluster(fields: Fields, options: ParseOptions): ClusterEntry {
  const server = fields.text('server');
  if (server === undefined || server === '') throw fields.error('server', 'is missing');
  try {
    new URL(server);
  } catch {
    throw fields.error('server', `is no URL: ${JSON.stringify(server)}`);
  }
  const insecureSkipTlsVerify = fields.flag('insecure-skip-tls-verify');
  const caData = fields.base64('certificate-authority-data');
  const caFile = fields.path('certificate-authority', options);
  if (insecureSkipTlsVerify && (caData !== undefined || caFile !== undefined)) {
    throw fields.error('insecure-skip-tls-verify', 'cannot be used together with a certificate authority');
  }
  return {
    server,
    insecureSkipTlsVerify,
    caData,
    caFile: caData === undefined ? caFile : undefined,
    tlsServerName: fields.text('tls-server-name'),
    proxyUrl: fields.text('proxy-url'),
    execConfig: fields
      .objects('extensions')
      .find((each) => each.text('name') === 'client.authentication.k8s.io/exec')
      ?.value('extension'),
    disableCompression: fields.flag('disable-compression'),
  };
}

function user(fields: Fields, options: ParseOptions): UserEntry {
  const token = fields.text('token');
  const username = fields.text('username');
  if (token !== undefined && username !== undefined) throw fields.error('token', 'and username cannot both be given');
  const provider = fields.object('auth-provider')?.object('config');
  const certData = fields.base64('client-certificate-data');
  const keyData = fields.base64('client-key-data');
  return {
    certData,
    certFile: certData === undefined ? fields.path('client-certificate', options) : undefined,
    keyData,
    keyFile: keyData === undefined ? fields.path('client-key', options) : undefined,
    // The only legacy provider left upstream keeps its token here.
    token: token ?? provider?.text('id-token') ?? provider?.text('access-token'),
    tokenFile: fields.path('tokenFile', options),
    username,
    password: fields.text('password'),
    exec: exec(fields.object('exec'), options),
    impersonateUser: fields.text('as'),
    impersonateUid: fields.text('as-uid'),
    impersonateGroups: fields.texts('as-groups'),
    impersonateExtra: Object.fromEntries(
      (fields.object('as-user-extra')?.entries() ?? []).map(([key, values]) => [
        key,
        Array.isArray(values) ? values.map(String) : [],
      ]),
    ),
  };
}

const EXEC_VERSIONS: readonly string[] = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];

function exec(fields: Fields | undefined, options: ParseOptions): ExecEntry | undefined {
  if (fields === undefined) return undefined;
  const command = fields.text('command');
  if (command === undefined || command === '') throw fields.error('command', 'is missing');
  const apiVersion = fields.text('apiVersion') ?? '';
  if (!EXEC_VERSIONS.includes(apiVersion))
    throw fields.error('apiVersion', `must be one of ${EXEC_VERSIONS.join(', ')}`);
  const mode = fields.text('interactiveMode') ?? 'IfAvailable';
  if (mode !== 'Never' && mode !== 'IfAvailable' && mode !== 'Always')
    throw fields.error('interactiveMode', 'is unknown');
  const env: [string, string][] = fields
    .objects('env')
    .map((each) => [each.text('name') ?? '', each.text('value') ?? '']);
  return {
    command,
    args: fields.texts('args'),
    env: Object.fromEntries(env),
    apiVersion,
    installHint: fields.text('installHint'),
    provideClusterInfo: fields.flag('provideClusterInfo'),
    interactiveMode: mode,
    directory: options.directory,
  };
}

function context(fields: Fields): ContextEntry {
  return {
    cluster: fields.text('cluster') ?? '',
    user: fields.text('user') ?? '',
    namespace: fields.text('namespace'),
  };
}

function named<V>(root: Fields, list: string, item: string, read: (fields: Fields) => V): Map<string, V> {
  const all = new Map<string, V>();
  for (const each of root.objects(list)) {
    const name = each.text('name') ?? '';
    const content = each.object(item);
    if (content !== undefined && !all.has(name)) all.set(name, read(content));
  }
  return all;
}

/** Typed access to one mapping of the file; errors say where. */
class Fields {
  readonly #value: Readonly<Record<string, unknown>>;
  readonly #file: string;
  readonly #path: string;

  constructor(value: unknown, file: string, path: string) {
    this.#file = file;
    this.#path = path;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw this.error('', 'must be a mapping');
    this.#value = value as Readonly<Record<string, unknown>>;
  }

  error(field: string, what: string): ConfigError {
    const path = [this.#path, field].filter((part) => part !== '').join('.');
    return new ConfigError('BAD_KUBECONFIG', `${this.#file}: ${path === '' ? 'the document' : path} ${what}`);
  }

  entries(): [string, unknown][] {
    return Object.entries(this.#value);
  }

  /** As it is. */
  value(field: string): unknown {
    return this.#get(field);
  }

  text(field: string): string | undefined {
    const value = this.#get(field);
    if (value === undefined || value === null) return undefined;
    if (typeof value !== 'string' && typeof value !== 'number') throw this.error(field, 'must be text');
    return String(value);
  }

  flag(field: string): boolean {
    const value = this.#get(field) ?? false;
    if (typeof value !== 'boolean') throw this.error(field, 'must be true or false');
    return value;
  }

  texts(field: string): string[] {
    const value = this.#get(field) ?? [];
    if (!Array.isArray(value)) throw this.error(field, 'must be a list');
    return value.map(String);
  }

  base64(field: string): string | undefined {
    const text = this.text(field);
    if (text === undefined || text === '') return undefined;
    try {
      return atob(text.replace(/\s/g, ''));
    } catch (cause) {
      throw new ConfigError('BAD_KUBECONFIG', `${this.#file}: ${this.#path}.${field} is not base64`, { cause });
    }
  }

  path(field: string, options: ParseOptions): string | undefined {
    const text = this.text(field);
    return text === undefined || text === '' ? undefined : options.resolvePath(text);
  }

  object(field: string): Fields | undefined {
    const value = this.#get(field);
    return value === undefined || value === null
      ? undefined
      : new Fields(value, this.#file, `${this.#path}${this.#path === '' ? '' : '.'}${field}`);
  }

  objects(field: string): Fields[] {
    const value = this.#get(field) ?? [];
    if (!Array.isArray(value)) throw this.error(field, 'must be a list');
    return value.map(
      (each, index) => new Fields(each, this.#file, `${this.#path}${this.#path === '' ? '' : '.'}${field}[${index}]`),
    );
  }

  #get(field: string): unknown {
    return Object.hasOwn(this.#value, field) ? this.#value[field] : undefined;
  }
}
