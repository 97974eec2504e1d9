import { describe, expect, it } from 'vitest';
import { parseArguments } from './cli-arguments.ts';

describe('parseArguments', () => {
  it('reads flags with and without an equals sign', () => {
    expect(
      parseArguments(['--port', '6443', '--token=T', '--insecure', '--watch-cache=false', '--json']).server,
    ).toEqual({
      port: 6443,
      token: 'T',
      insecure: true,
      watchCache: false,
    });
  });

  it('collects files from several words and commas', () => {
    expect(parseArguments(['--load', 'a.yaml', 'b.yaml,c.yaml', '--load=d.yaml', '--json']).load).toEqual([
      'a.yaml',
      'b.yaml',
      'c.yaml',
      'd.yaml',
    ]);
  });

  it('reads gates, sizes and durations', () => {
    const { server } = parseArguments([
      '--feature-gates=WatchList=true,Other=false',
      '--watch-cache-sizes=pods#0,deployments.apps#100',
      '--min-request-timeout=2',
      '--event-ttl=2m',
      '--etcd-compaction-interval=0',
    ]);
    expect(server).toEqual({
      featureGates: { WatchList: true, Other: false },
      watchCacheSizes: { pods: 0, 'deployments.apps': 100 },
      minRequestTimeoutMs: 2000,
      eventTtlSeconds: 120,
      etcdCompactionIntervalMs: 0,
    });
  });

  it.each([
    [['--port'], '--port'],
    [['--port', '--json'], '--port'],
    [['--request-timeout=5'], '--request-timeout'],
    [['--feature-gates=WatchList'], '--feature-gates'],
    [['--feature-gates=WatchList=maybe'], '--feature-gates'],
    [['stray'], 'stray'],
    [['--token='], '--token'],
  ])('refuses %j by name', (argv, flag) => {
    expect(() => parseArguments(argv)).toThrow(`option ${flag} must be`);
  });
});
