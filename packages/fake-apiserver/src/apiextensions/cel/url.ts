// URLs as CEL takes them apart.
// Upstream: apiserver@v0.30.3:pkg/cel/library/urls.go, Go's net/url#ParseRequestURI
import { goQuote } from '@kube-rx/apimachinery';
import { CelError, CelUrl } from './values.ts';

/** A path that is not escaped as Go would do it is escaped anew. */
function escaped(path: string): string {
  return path.replace(/[^A-Za-z0-9\-._~!$&'()*+,;=:@/%[\]]/gu, (char) =>
    [...Buffer.from(char)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
}

/** An absolute URL or an absolute path. Throws a CelError. */
export function parseUrl(text: string): CelUrl {
  const fail = (why: string): never => {
    throw new CelError(`URL parse error during conversion from string: parse ${goQuote(text)}: ${why}`);
  };
  if (text === '') return fail('empty url');
  if (/\p{Cc}/u.test(text)) return fail('net/url: invalid control character in URL');
  const [, scheme = '', rest = ''] = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(.*)$/s.exec(text)!;
  if (scheme === '' && !rest.startsWith('/')) return fail('invalid URI for request');
  const question = rest.indexOf('?');
  const [before, query] = question < 0 ? [rest, ''] : [rest.slice(0, question), rest.slice(question + 1)];
  const authority = scheme !== '' && before.startsWith('//') ? /^\/\/([^/]*)/.exec(before)![1]! : undefined;
  const path = authority === undefined ? before : before.slice(authority.length + 2);
  const bad = /%(?![0-9A-Fa-f]{2}).{0,2}/.exec(path);
  if (bad !== null) return fail(`invalid URL escape ${goQuote(bad[0])}`);
  const host = authority?.slice(authority.lastIndexOf('@') + 1) ?? '';
  const port = /:(\d*)$/.exec(host)?.[1] ?? '';
  if (!host.startsWith('[') && host.includes(':') && !/:\d*$/.test(host)) {
    return fail(`invalid port ${goQuote(host.slice(host.lastIndexOf(':')))} after host`);
  }
  const hostname = host.replace(/:\d*$/, '').replace(/^\[|\]$/g, '');
  return new CelUrl({ scheme: scheme.toLowerCase(), host, hostname, port, escapedPath: escaped(path), query });
}
