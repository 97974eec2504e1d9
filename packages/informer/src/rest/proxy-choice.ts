// Which proxy a request goes through: the configured one, or what the environment says. Pure.
// Upstream: golang.org/x/net:http/httpproxy/proxy.go#Config.ProxyFunc
import { BlockList, isIP, isIPv4 } from 'node:net';
import { ConfigError } from '../errors.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  'http:': 80,
  'https:': 443,
  'socks5:': 1080,
  'socks5h:': 1080,
};

/** A proxy that can be used; throws a ConfigError for any other text. */
export function parseProxyUrl(text: string, from: string): URL {
  let url: URL;
  try {
    url = new URL(text.includes('://') ? text : `http://${text}`);
  } catch (cause) {
    // Not the text itself: it may hold a password.
    throw new ConfigError('BAD_PROXY', `${from} is no URL`, { cause });
  }
  if (DEFAULT_PORTS[url.protocol] === undefined || url.hostname === '') {
    throw new ConfigError('BAD_PROXY', `${from} has scheme ${url.protocol} and not http, https, socks5 or socks5h`);
  }
  return url;
}

/** Port of a proxy, or of an API server. */
export function portOf(url: URL): number {
  return url.port === '' ? (DEFAULT_PORTS[url.protocol] ?? 443) : Number(url.port);
}

/** Host without the brackets of an IPv6 address. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

/** User and password of a proxy; undefined when it wants none. */
export function proxyCredentials(proxy: URL): { readonly username: string; readonly password: string } | undefined {
  if (proxy.username === '') return undefined;
  return { username: decodeURIComponent(proxy.username), password: decodeURIComponent(proxy.password) };
}

export type ProxyChoice = (url: URL) => URL | undefined;

/**
 * A configured proxy is used for everything. Else HTTP_PROXY and HTTPS_PROXY count, but for loopback addresses and what NO_PROXY names:
 * hosts with their subdomains, `.domain` for subdomains alone, addresses, CIDR ranges, each with an optional port, and `*`.
 */
export function chooseProxy(proxyUrl: string | undefined, env: Environment): ProxyChoice {
  if (proxyUrl !== undefined && proxyUrl !== '') {
    const proxy = parseProxyUrl(proxyUrl, 'proxy-url');
    return () => proxy;
  }
  const variable = (name: string): string | undefined => env[name] || env[name.toLowerCase()] || undefined;
  const parsed = (name: string): (() => URL | undefined) => {
    const text = variable(name);
    let url: URL | undefined;
    // Only a request that needs it fails for a bad one.
    return () => {
      if (text !== undefined) url ??= parseProxyUrl(text, name);
      return url;
    };
  };
  const [http, https] = [parsed('HTTP_PROXY'), parsed('HTTPS_PROXY')];
  const exempt = parseNoProxy(variable('NO_PROXY') ?? '');
  return (url) => {
    const proxy = url.protocol === 'https:' || url.protocol === 'wss:' ? https : http;
    const host = hostOf(url).toLowerCase();
    return isLoopback(host) || exempt(host, portOf(url)) ? undefined : proxy();
  };
}

/** An address of this machine, as far as the text says. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

type Exemption = (host: string, port: number) => boolean;

function parseNoProxy(text: string): Exemption {
  const all = text
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== '')
    .map(exemption);
  return (host, port) => all.some((each) => each(host, port));
}

function exemption(entry: string): Exemption {
  if (entry === '*') return () => true;
  const [network, bits, ...more] = entry.split('/');
  if (bits !== undefined) {
    const family = familyOf(network!);
    if (family === undefined || more.length > 0 || !/^\d{1,3}$/.test(bits)) return () => false;
    const range = new BlockList();
    try {
      range.addSubnet(network!, Number(bits), family);
    } catch {
      return () => false;
    }
    return (host) => {
      const of = familyOf(host);
      return of !== undefined && range.check(host, of);
    };
  }
  const { host: given, port } = splitPort(entry);
  const samePort = (other: number): boolean => port === undefined || port === other;
  if (isIP(given) !== 0) return (host, other) => host === given && samePort(other);
  const suffix = given.replace(/^\*?\.?/, '.');
  const itself = given.startsWith('*.') || given.startsWith('.') ? undefined : given;
  return (host, other) => (host.endsWith(suffix) || host === itself) && samePort(other);
}

function splitPort(entry: string): { readonly host: string; readonly port: number | undefined } {
  const match = /^(?:\[(.+)\]|([^:]+)):(\d+)$/.exec(entry);
  if (match !== null) return { host: (match[1] ?? match[2])!, port: Number(match[3]) };
  return { host: entry.replace(/^\[|\]$/g, ''), port: undefined };
}

function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  const version = isIP(address);
  return version === 0 ? undefined : version === 4 ? 'ipv4' : 'ipv6';
}
