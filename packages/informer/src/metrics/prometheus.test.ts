import { settle, VirtualClock } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import {
  errorEvent,
  list,
  ScriptedListerWatcher,
  type TestObject,
} from '../../test/support/scripted-lister-watcher.ts';
import { auditCache } from '../reflector/data-consistency-detector.ts';
import { versionGauge } from '../reflector/reflector-metrics.ts';
import { informerHealth } from '../shared-informer/informer-health.ts';
import { SharedIndexInformer } from '../shared-informer/shared-index-informer.ts';
import { PrometheusRegistry, reflectorMetricsOn, workQueueMetricsOn } from './prometheus.ts';

describe('PrometheusRegistry', () => {
  it('writes counters, gauges and histograms, with labels escaped', () => {
    const registry = new PrometheusRegistry();
    expect(registry.text()).toBe('');
    registry.count('a_total', 'A', { name: 'x"\\\n' });
    registry.count('a_total', 'A', { name: 'x"\\\n' }, 2);
    registry.set('b', 'B', {}, 5);
    registry.observe('c', 'C', { z: '1' }, 3, [1, 5]);
    expect(registry.text().split('\n')).toEqual([
      '# HELP a_total A',
      '# TYPE a_total counter',
      'a_total{name="x\\"\\\\\\n"} 3',
      '# HELP b B',
      '# TYPE b gauge',
      'b 5',
      '# HELP c C',
      '# TYPE c histogram',
      'c_bucket{z="1",le="1"} 0',
      'c_bucket{z="1",le="5"} 1',
      'c_bucket{z="1",le="+Inf"} 1',
      'c_sum{z="1"} 3',
      'c_count{z="1"} 1',
      '',
    ]);
  });

  it('counts what a reflector does', async () => {
    const clock = new VirtualClock();
    const registry = new PrometheusRegistry();
    const server = new ScriptedListerWatcher().onList(list('10', 'a@5', 'b@6'));
    const informer = new SharedIndexInformer<TestObject>(server, {
      clock,
      random: () => 0,
      name: 'maps',
      metrics: reflectorMetricsOn(registry),
    });
    informer.start();
    await settle();
    server.stream.send('ADDED c@11', errorEvent(410, 'Expired'));
    await clock.advance(1000);
    const text = registry.text();
    expect(text).toContain('reflector_lists_total{name="maps"} 2');
    expect(text).toContain('reflector_items_per_list_sum{name="maps"} 4');
    expect(text).toContain('reflector_watches_total{name="maps"} 1');
    expect(text).toContain('reflector_items_per_watch_sum{name="maps"} 1');
    expect(text).toContain('reflector_last_resource_version{name="maps"} 10');
    expect(text).toContain('reflector_faults_total{name="maps",kind="expired",verb="watch"} 1');
    expect(text).toContain('reflector_backoff_seconds_total{name="maps"} 0.8');
    await informer.close();
  });

  it('takes the metrics of a work queue', () => {
    const registry = new PrometheusRegistry();
    const queue = workQueueMetricsOn(registry)('q');
    queue.added();
    queue.depth(3);
    queue.workDuration(0.2);
    expect(registry.text()).toMatch(/workqueue_adds_total\{name="q"\} 1[\s\S]*workqueue_depth\{name="q"\} 3/);
  });

  it('keeps the digits of a version that a float can hold', () => {
    expect([versionGauge('12'), versionGauge('1234567890123456789'), versionGauge('x')]).toEqual([
      12, 567890123456789, 0,
    ]);
  });
});

describe('informerHealth and auditCache', () => {
  it('say why a cache cannot be trusted, and whether it agrees with the server', async () => {
    const clock = new VirtualClock();
    const server = new ScriptedListerWatcher().onList(
      list('10', 'a@5', 'b@6'),
      list('10', 'a@4', 'c@7'),
      list('10', 'a@5', 'b@6'),
    );
    const informer = new SharedIndexInformer<TestObject>(server, { clock, random: () => 0, idleTimeoutMs: 0 });
    expect(informerHealth(informer, { clock })).toEqual({
      healthy: false,
      reasons: ['not synced'],
      phase: 'idle',
      hasSynced: false,
      syncedForMs: undefined,
      silentForMs: undefined,
    });
    await expect(auditCache(informer, server)).rejects.toMatchObject({ code: 'NOT_SYNCED' });
    informer.start();
    await settle();
    expect(informerHealth(informer, { clock })).toMatchObject({
      healthy: true,
      reasons: [],
      phase: 'watching',
      syncedForMs: 0,
      silentForMs: 0,
    });
    await clock.advance(100_000);
    server.stream.send('BOOKMARK 10');
    await clock.advance(631_000);
    expect(informerHealth(informer, { clock })).toMatchObject({
      reasons: ['silent for 631 s'],
      syncedForMs: 731_000,
      silentForMs: 631_000,
    });
    expect(await auditCache(informer, server)).toEqual([
      { key: 'default/a', cached: '5', server: '4' },
      { key: 'default/b', cached: '6', server: undefined },
      { key: 'default/c', server: '7' },
    ]);
    expect(await auditCache(informer, server)).toEqual([]);
    await informer.close();
    expect(informerHealth(informer, { clock }).reasons).toContain('stopped');
  });
});
