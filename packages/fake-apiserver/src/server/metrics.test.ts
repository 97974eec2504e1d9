import { describe, expect, it } from 'vitest';
import { MetricsRegistry } from './metrics.ts';

describe('MetricsRegistry', () => {
  it('prints families and series in order, with escaped labels', () => {
    const registry = new MetricsRegistry();
    registry.gauge('watch_cache_capacity', { resource: 'pods' }).set(100);
    registry.counter('apiserver_init_events_total', { resource: 'pods' }).inc(3);
    registry.counter('apiserver_init_events_total', { resource: 'a"b\\c\nd' }).inc();
    expect(registry.render()).toBe(
      [
        '# HELP apiserver_init_events_total Initial events sent to watchers, by resource.',
        '# TYPE apiserver_init_events_total counter',
        'apiserver_init_events_total{resource="a\\"b\\\\c\\nd"} 1',
        'apiserver_init_events_total{resource="pods"} 3',
        '# HELP watch_cache_capacity Events the ring of the watch cache can hold, by resource.',
        '# TYPE watch_cache_capacity gauge',
        'watch_cache_capacity{resource="pods"} 100',
        '',
      ].join('\n'),
    );
  });

  it('gives the same series for the same labels in another order', () => {
    const registry = new MetricsRegistry();
    registry.counter('x_total', { a: '1', b: '2' }).inc();
    registry.counter('x_total', { b: '2', a: '1' }).inc();
    expect(registry.render()).toContain('x_total{a="1",b="2"} 2\n');
  });

  it('counts a value in every bucket that can hold it', () => {
    const registry = new MetricsRegistry();
    const sizes = registry.histogram('apiserver_watch_events_sizes', { kind: 'Pod' });
    for (const size of [1024, 1025, 1_000_000]) sizes.observe(size);
    const text = registry.render();
    expect(text).toContain('apiserver_watch_events_sizes_bucket{kind="Pod",le="1024"} 1\n');
    expect(text).toContain('apiserver_watch_events_sizes_bucket{kind="Pod",le="2048"} 2\n');
    expect(text).toContain('apiserver_watch_events_sizes_bucket{kind="Pod",le="131072"} 2\n');
    expect(text).toContain('apiserver_watch_events_sizes_bucket{kind="Pod",le="+Inf"} 3\n');
    expect(text).toContain('apiserver_watch_events_sizes_sum{kind="Pod"} 1.002049e+06\n');
    expect(text).toContain('apiserver_watch_events_sizes_count{kind="Pod"} 3\n');
  });

  it('refuses one name for two kinds', () => {
    const registry = new MetricsRegistry();
    registry.counter('x');
    expect(() => registry.gauge('x')).toThrow('metric x is a counter, not a gauge');
  });
});
