import { StatusError } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import { negotiate, negotiateOutput, requireStream, routerAccepts, wantsPretty } from './negotiation.ts';

const builtIn = { protobuf: 'all', transforms: true } as const;
const custom = { protobuf: 'metadata', transforms: true } as const;
const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const AS_TABLE = 'as=Table;v=v1;g=meta.k8s.io';

describe('negotiate', () => {
  it.each([
    [undefined, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
    ['application/json', 'application/json'],
    ['application/yaml', 'application/yaml'],
    [PROTOBUF, PROTOBUF],
    [`${PROTOBUF},application/json`, PROTOBUF],
    [`application/json;q=0.5,${PROTOBUF};q=0.9`, PROTOBUF],
    ['application/json;stream=watch', 'application/json'],
    ['text/html,application/yaml', 'application/yaml'],
    ['*/*,application/yaml', 'application/yaml'],
  ])('serves %s as %s', (header, mediaType) => {
    expect(negotiate(header, builtIn)?.mediaType).toBe(mediaType);
  });

  it.each([
    'text/html',
    'application/json;stream=other',
    'application/xml',
    `application/json;as=Table;v=v9;g=meta.k8s.io`,
  ])('cannot serve %s', (header) => {
    expect(negotiate(header, builtIn)).toBeUndefined();
  });

  it('falls through to the next clause when a transformation is not served', () => {
    const header = `application/json;as=Table;v=v9;g=meta.k8s.io,application/json;${AS_TABLE},application/json`;
    expect(negotiate(header, builtIn)?.target).toEqual({ kind: 'Table', group: 'meta.k8s.io', version: 'v1' });
  });

  it('makes no Table of protobuf', () => {
    expect(negotiate(`${PROTOBUF};${AS_TABLE}`, builtIn)).toBeUndefined();
  });

  it('has protobuf of custom resources only for their metadata', () => {
    expect(negotiate(PROTOBUF, custom)).toBeUndefined();
    const metadata = `${PROTOBUF};as=PartialObjectMetadata;v=v1;g=meta.k8s.io`;
    expect(negotiate(metadata, custom)?.mediaType).toBe(PROTOBUF);
  });

  it('serves no protobuf without a codec', () => {
    const none = { protobuf: 'none', transforms: true } as const;
    expect(negotiate(`${PROTOBUF},application/json`, none)?.mediaType).toBe('application/json');
  });

  it('names what would be accepted', () => {
    expect(() => negotiateOutput('text/html', builtIn)).toThrow(
      'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    );
  });

  it('survives headers that are no media ranges', () => {
    for (const header of [';;;', ',', '/', 'a', '*', 'application/json;q=x', ';q=1,/;=']) {
      expect(() => negotiate(header, builtIn)).not.toThrow();
    }
  });
});

describe('requireStream', () => {
  it('refuses YAML, which has no stream form', () => {
    const yaml = negotiate('application/yaml', builtIn)!;
    expect(() => requireStream(yaml)).toThrow(StatusError);
    expect(() => requireStream(negotiate(undefined, builtIn)!)).not.toThrow();
  });
});

describe('routerAccepts', () => {
  it.each([
    [undefined, true],
    ['*/*', true],
    ['text/html, application/json;q=0.1', true],
    ['text/html', false],
    // Partial wildcards mean nothing to the router.
    ['application/*', false],
  ])('of %s is %s', (header, expected) => {
    expect(routerAccepts(header, ['application/json'])).toBe(expected);
  });
});

describe('wantsPretty', () => {
  it.each([
    [undefined, 'curl/8.0', true],
    [undefined, 'Wget/1.2', true],
    [undefined, 'Mozilla/5.0 (X11)', true],
    [undefined, 'kubectl/v1.30', false],
    ['', 'curl/8.0', true],
    ['false', 'curl/8.0', false],
    ['1', 'kubectl', true],
    ['true', 'kubectl', true],
    ['yes', 'kubectl', false],
  ])('of pretty=%s and user agent %s is %s', (query, agent, expected) => {
    expect(wantsPretty(query, agent)).toBe(expected);
  });
});
