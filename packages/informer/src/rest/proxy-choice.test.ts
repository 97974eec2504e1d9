import { describe, expect, it } from 'vitest';
import { chooseProxy, parseProxyUrl } from './proxy-choice.ts';

const chosen = (url: string, env: Record<string, string>, proxyUrl?: string): string | undefined =>
  chooseProxy(proxyUrl, env)(new URL(url))?.href;

describe('chooseProxy', () => {
  const env = { HTTP_PROXY: 'http://plain.test:3128', HTTPS_PROXY: 'secure.test:3129' };

  it('takes the proxy of the scheme from the environment, upper case first, with or without a scheme of its own', () => {
    expect(chosen('http://api.test', env)).toBe('http://plain.test:3128/');
    expect(chosen('https://api.test', env)).toBe('http://secure.test:3129/');
    expect(chosen('https://api.test', { https_proxy: 'socks5://s.test' })).toBe('socks5://s.test');
    expect(chosen('https://api.test', { https_proxy: 'a.test', HTTPS_PROXY: 'b.test' })).toBe('http://b.test/');
    expect(chosen('https://api.test', { HTTP_PROXY: 'http://plain.test' })).toBeUndefined();
    expect(chosen('https://api.test', { HTTPS_PROXY: '' })).toBeUndefined();
  });

  it.each(['https://localhost', 'https://127.0.0.1:6443', 'https://127.8.8.8', 'https://[::1]'])(
    'the environment says nothing about %s',
    (url) => {
      expect(chosen(url, env)).toBeUndefined();
      expect(chosen(url, env, 'http://mine.test')).toBe('http://mine.test/');
    },
  );

  it.each<[string, string, boolean]>([
    ['*', 'https://api.test', true],
    ['api.test', 'https://api.test', true],
    ['API.Test', 'https://api.test', true],
    ['api.test', 'https://deep.api.test', true],
    ['api.test', 'https://myapi.test', false],
    ['.test', 'https://api.test', true],
    ['.api.test', 'https://api.test', false],
    ['*.api.test', 'https://a.api.test', true],
    ['*.api.test', 'https://api.test', false],
    ['api.test:6443', 'https://api.test:6443', true],
    ['api.test:6443', 'https://api.test', false],
    ['api.test:443', 'https://api.test', true],
    ['192.0.2.7', 'https://192.0.2.7:6443', true],
    ['192.0.2.7:443', 'https://192.0.2.7:6443', false],
    ['192.0.2.0/24', 'https://192.0.2.200', true],
    ['192.0.2.0/24', 'https://192.0.3.1', false],
    ['192.0.2.0/24', 'https://api.test', false],
    ['2001:db8::/32', 'https://[2001:db8::9]:6443', true],
    ['2001:db8::9', 'https://[2001:db8::9]', true],
    ['[2001:db8::9]:6443', 'https://[2001:db8::9]:6443', true],
    ['192.0.2.0/99, , x/8,a/b/c', 'https://192.0.2.1', false],
    ['other.test , api.test', 'https://api.test', true],
    ['', 'https://api.test', false],
  ])('NO_PROXY=%j and %s: exempt %s', (noProxy, url, exempt) => {
    expect(chosen(url, { ...env, NO_PROXY: noProxy }) === undefined).toBe(exempt);
    expect(chosen(url, { ...env, no_proxy: noProxy }, 'http://mine.test')).toBe('http://mine.test/');
  });

  it.each(['ftp://p.test', 'socks4://p.test', 'http://', 'http://[bad'])('refuses %s without telling it', (text) => {
    expect(() => parseProxyUrl(text, 'proxy-url')).toThrow(
      expect.objectContaining({ code: 'BAD_PROXY', message: expect.stringMatching(/^proxy-url /) }),
    );
  });

  it('a bad one in the environment fails only what needs it', () => {
    const choose = chooseProxy(undefined, { HTTPS_PROXY: 'ftp://p.test' });
    expect(choose(new URL('http://api.test'))).toBeUndefined();
    expect(() => choose(new URL('https://api.test'))).toThrow(expect.objectContaining({ code: 'BAD_PROXY' }));
  });
});
