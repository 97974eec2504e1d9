import { settle, VirtualClock } from '@kube-rx/apimachinery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ConfigMap, ConfigMaps, MemoryApi } from '../../test/support/memory-api.ts';
import { RestClient } from '../rest/rest-client.ts';
import { select$ } from '../rx/select.ts';
import { SharedInformerFactory, type SharedInformerFactoryOptions } from './shared-informer-factory.ts';

const PATH = '/api/v1/namespaces/shop/configmaps';

describe('SharedInformerFactory', () => {
  let clock: VirtualClock;
  let api: MemoryApi;
  let factory: SharedInformerFactory;

  beforeEach(() => {
    clock = new VirtualClock();
    api = new MemoryApi();
    create();
  });
  afterEach(async () => {
    await factory.close();
    await settle();
    expect(api.openWatches).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });
  function create(options: SharedInformerFactoryOptions = {}): void {
    const rest = new RestClient({ server: 'http://memory.test', transport: api, clock });
    factory = new SharedInformerFactory({ rest }, { clock, random: () => 0, ...options });
  }
  const add = (name: string, labels: Record<string, string> = {}, path = PATH) =>
    api.put(`${path}/${name}`, { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name, labels } });
  const lists = () =>
    api.requests.filter(({ path, query }) => path.endsWith('/configmaps') && query['watch'] !== 'true').length;

  it('starts one informer for equal specs, whatever their spelling', async () => {
    add('a');
    const one = factory.informer(ConfigMaps, { labelSelector: 'b=1,a=2', namespaces: ['shop', 'shop'] });
    const two = factory.informer(ConfigMaps, { labelSelector: 'a=2, b=1', namespaces: ['shop'] });
    await factory.ready();
    expect([factory.size, lists()]).toEqual([1, 1]);
    expect(one.store).toBe(two.store);
    factory.informer(ConfigMaps, { labelSelector: 'a=2' });
    factory.informer(ConfigMaps, { labelSelector: 'a=2', metadataOnly: true });
    await settle();
    expect(factory.size).toBe(3);
  });

  it('stops an informer some time after its last user left, and not when somebody came back', async () => {
    const one = factory.informer(ConfigMaps);
    const two = factory.informer(ConfigMaps);
    await factory.ready();
    await one[Symbol.asyncDispose]();
    await one[Symbol.asyncDispose]();
    await clock.advance(10_000);
    expect(factory.size).toBe(1);
    await two[Symbol.asyncDispose]();
    await clock.advance(4_999);
    const three = factory.informer(ConfigMaps);
    await clock.advance(10_000);
    expect([factory.size, lists()]).toEqual([1, 1]);
    await three[Symbol.asyncDispose]();
    await clock.advance(5_000);
    expect([factory.size, api.openWatches]).toEqual([0, 0]);
    factory.informer(ConfigMaps);
    await factory.ready();
    expect(lists()).toBe(2);
  });

  it('takes away with a lease what was registered through it, and nothing else', async () => {
    add('a');
    const mine = factory.informer(ConfigMaps);
    const yours = factory.informer(ConfigMaps);
    const seen: string[] = [];
    mine.handle((event) => void seen.push(`mine ${event.type}`));
    yours.handle((event) => void seen.push(`yours ${event.type}`));
    let completed = false;
    mine.events$.subscribe({ complete: () => (completed = true) });
    const changes = mine.changes();
    const first = changes.next();
    await factory.ready();
    await first;
    seen.length = 0;
    await mine[Symbol.asyncDispose]();
    add('b');
    await settle();
    expect(seen).toEqual(['yours added']);
    expect([completed, (await changes.next()).done, mine.isStopped, yours.isStopped]).toEqual([
      true,
      true,
      true,
      false,
    ]);
    expect(() => mine.handle(() => {})).toThrow(/given back/);
  });

  it('works with await using', async () => {
    {
      await using maps = factory.informer(ConfigMaps, { namespaces: ['shop'] });
      await maps.whenSynced();
      expect(maps.store.size).toBe(0);
    }
    await clock.advance(5000);
    expect(factory.size).toBe(0);
  });

  it('joins the indices of its users, and refuses another function under the same name', async () => {
    add('a', { tier: 'web' });
    const byTier = (map: ConfigMap): string[] => [map.metadata?.labels?.['tier'] ?? ''];
    const one = factory.informer(ConfigMaps);
    await factory.ready();
    const two = factory.informer(ConfigMaps, { indexers: { tier: byTier } });
    factory.informer(ConfigMaps, { indexers: { tier: byTier } });
    expect(two.store.indexKeys('tier', 'web')).toEqual(['shop/a']);
    expect(one.store.indexKeys('namespace', 'shop')).toEqual(['shop/a']);
    expect(() => factory.informer(ConfigMaps, { indexers: { tier: () => [] } })).toThrow(/another index "tier"/);
  });

  it('uses its namespaces where a spec names none, one list and watch for each', async () => {
    create({ namespaces: ['shop', 'bank'] });
    add('a');
    add('b', {}, '/api/v1/namespaces/bank/configmaps');
    add('c', {}, '/api/v1/namespaces/other/configmaps');
    const maps = factory.informer(ConfigMaps);
    await factory.ready();
    expect(maps.store.keys().sort()).toEqual(['bank/b', 'shop/a']);
    expect(api.openWatches).toBe(2);
    add('d', {}, '/api/v1/namespaces/bank/configmaps');
    await settle();
    expect(maps.store.list({ namespace: 'bank' })).toHaveLength(2);
  });

  it('tells the health of all informers by name', async () => {
    let latest = new Map<string, string>();
    factory.health$.subscribe((health) => {
      latest = new Map([...health].map(([name, status]) => [name, status.phase]));
    });
    factory.informer(ConfigMaps);
    factory.informer(ConfigMaps, { labelSelector: 'a=1' });
    await factory.ready();
    await settle();
    expect(latest).toEqual(
      new Map([
        ['configmaps.v1', 'watching'],
        ['configmaps.v1#2', 'watching'],
      ]),
    );
    await factory.close();
    expect(latest.size).toBe(0);
    expect(() => factory.informer(ConfigMaps)).toThrow(/closed/);
  });

  it('refuses a selector that cannot be parsed before anything is sent', () => {
    expect(() => factory.informer(ConfigMaps, { labelSelector: 'a in (' })).toThrow();
    expect(factory.size).toBe(0);
  });

  it('selects by index, by selector and by namespace', async () => {
    add('a', { tier: 'web' });
    add('b', { tier: 'db' });
    const maps = factory.informer(ConfigMaps, { indexers: { tier: (map) => [map.metadata.labels?.['tier'] ?? ''] } });
    const names = { index: '', labels: '', elsewhere: 'none' };
    const put = (key: keyof typeof names) => (found: readonly { readonly metadata: { readonly name: string } }[]) => {
      names[key] = found.map((each) => each.metadata.name).join();
    };
    select$(maps, { index: 'tier', value: 'web' }).subscribe(put('index'));
    select$(maps, { labels: 'tier in (db, cache)' }).subscribe(put('labels'));
    select$(maps, { namespace: 'elsewhere' }).subscribe(put('elsewhere'));
    await factory.ready();
    await settle();
    expect(names).toEqual({ index: 'a', labels: 'b', elsewhere: '' });
    add('c', { tier: 'cache' });
    add('d', { tier: 'web' });
    await settle();
    expect(names).toEqual({ index: 'a,d', labels: 'b,c', elsewhere: '' });
    expect(() => select$(maps, { labels: 'tier in (' })).toThrow();
    // @ts-expect-error no such index
    expect(() => select$(maps, { index: 'teir', value: 'web' })).not.toThrow();
  });

  it('selects: a result that follows the store, without repetition', async () => {
    add('a', { tier: 'web' });
    add('b', { tier: 'db' });
    const maps = factory.informer(ConfigMaps);
    const results: string[][] = [];
    let completed = false;
    select$(maps, (store) => store.list({ labels: 'tier=web' })).subscribe({
      next: (found) => results.push(found.map((each) => each.metadata.name)),
      complete: () => (completed = true),
    });
    await factory.ready();
    await settle();
    add('c', { tier: 'db' });
    await settle();
    add('d', { tier: 'web' });
    api.remove(`${PATH}/b`);
    await settle();
    expect(results).toEqual([['a'], ['a', 'd']]);
    await factory.close();
    expect(completed).toBe(true);
  });
});
