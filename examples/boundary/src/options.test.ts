import { describe, expect, it } from 'vitest';
import { parseOptions, UsageError } from './options.ts';

describe('parseOptions', () => {
  it('runs a server of its own by default, until interrupted', () => {
    expect(parseOptions([])).toEqual({
      manifests: [],
      cluster: undefined,
      kinds: [],
      seconds: undefined,
      json: false,
      port: 0,
      seed: 1,
    });
  });

  it('takes several paths after one --manifests, and lists of kinds with commas', () => {
    const options = parseOptions([
      '--manifests',
      'a.yaml',
      'b.yaml',
      '--json',
      '--kinds',
      'pods,secrets',
      'jobs.batch',
      '--manifests',
      'c',
    ]);
    expect(options?.manifests).toEqual(['a.yaml', 'b.yaml', 'c']);
    expect(options?.kinds).toEqual(['pods', 'secrets', 'jobs.batch']);
    expect(options?.json).toBe(true);
  });

  it('watches a cluster when one is named', () => {
    expect(parseOptions(['--context', 'prod'])?.cluster).toMatchObject({ context: 'prod', kubeconfig: undefined });
    expect(parseOptions(['--server', 'https://10.0.0.1:6443', '--token', 't'])?.cluster).toMatchObject({
      server: 'https://10.0.0.1:6443',
      token: 't',
      insecureSkipTlsVerify: false,
    });
  });

  it('gives undefined when help is wanted', () => {
    expect(parseOptions(['--help'])).toBeUndefined();
    expect(parseOptions(['-h'])).toBeUndefined();
  });

  it.each([
    [['--frobnicate'], /Unknown option '--frobnicate'; --help/],
    [['extra'], /Unexpected argument 'extra'/],
    [['--manifests'], /argument missing/],
    [['--seconds', 'ten'], /--seconds must be a number from 0.1 to 1000000, not "ten"/],
    [['--seconds', '0'], /--seconds must be a number/],
    [['--seconds=-1'], /--seconds must be a number/],
    [['--port', '65536'], /--port must be a number from 0 to 65535/],
    [['--port', '1.5'], /--port must be a whole number/],
    [['--server', 'localhost:6443'], /--server must be an http or https URL/],
    [['--server', 'ftp://x'], /--server must be an http or https URL/],
    [['--server', 'http://x', '--context', 'c'], /--server stands alone/],
    [['--token', 't'], /go with --server/],
    [['--kubeconfig', 'k', '--manifests', 'm'], /is only read/],
    [['--kubeconfig', 'k', '--port', '1'], /--port is for a server of our own/],
  ])('refuses %j with one line', (argv, message) => {
    expect(() => parseOptions(argv)).toThrow(UsageError);
    expect(() => parseOptions(argv)).toThrow(message);
    try {
      parseOptions(argv);
    } catch (error) {
      expect((error as Error).message).not.toContain('\n');
    }
  });
});
