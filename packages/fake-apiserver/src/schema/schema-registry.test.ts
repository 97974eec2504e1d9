import { describe, expect, it } from 'vitest';
import { loadDiscovery, loadSchemaRegistry, loadTableColumns, tableColumnsKey } from './index.ts';

const registry = loadSchemaRegistry('v1.30');

describe('loadSchemaRegistry', () => {
  it('finds a type by kind and keeps its identity', () => {
    const pod = registry.byKind('', 'v1', 'Pod');
    expect(pod?.name).toBe('io.k8s.api.core.v1.Pod');
    expect(registry.byName('io.k8s.api.core.v1.Pod')).toBe(pod);
    expect(registry.byKind('apps', 'v1', 'Pod')).toBeUndefined();
  });

  it('lays the extensions of a field over the type it refers to', () => {
    const spec = registry.byKind('', 'v1', 'Pod')?.properties?.get('spec');
    expect(spec?.name).toBe('io.k8s.api.core.v1.PodSpec');
    const containers = spec?.properties?.get('containers');
    expect(containers).toMatchObject({ listType: 'map', listMapKeys: ['name'], patchMergeKey: 'name' });
    expect(containers?.patchStrategies).toEqual(['merge']);
    const ports = containers?.items?.properties?.get('ports');
    expect(ports?.listMapKeys).toEqual(['containerPort', 'protocol']);
    expect(ports?.items?.properties?.get('protocol')?.default).toBe('TCP');
    expect(
      registry.byKind('apps', 'v1', 'Deployment')?.properties?.get('spec')?.properties?.get('strategy')
        ?.patchStrategies,
    ).toEqual(['retainKeys']);
  });

  it('follows a recursive type as deep as asked', () => {
    let schema = registry.byName('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps');
    for (let depth = 0; depth < 50; depth++) schema = schema?.properties?.get('not');
    expect(schema?.name).toBe('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps');
  });

  it('knows that a name such as constructor is no type', () => {
    expect(registry.byName('constructor')).toBeUndefined();
    expect(registry.byName('__proto__')).toBeUndefined();
  });

  it('refuses a profile that was never recorded', () => {
    expect(() => loadDiscovery('v9' as never)).toThrow(RangeError);
  });

  it.each(['v1.30', 'v1.37'] as const)('has a type for every served kind of %s', (profile) => {
    const types = loadSchemaRegistry(profile);
    const missing: string[] = [];
    for (const group of loadDiscovery(profile)) {
      for (const version of group.versions) {
        for (const resource of version.resources) {
          for (const one of [resource, ...resource.subresources]) {
            if (types.byKind(one.kindGroup, one.kindVersion, one.kind) === undefined)
              missing.push(`${version.name} ${one.kind}`);
          }
        }
      }
    }
    expect(
      missing.filter((name) => !/(Pod|Service|Node)ProxyOptions|Pod(Exec|Attach|PortForward)Options/.test(name)),
    ).toEqual([]);
  });
});

describe('loadDiscovery', () => {
  it('keeps the order of groups and the preferred version first', () => {
    const groups = loadDiscovery('v1.30');
    expect(groups.slice(0, 4).map((group) => group.name)).toEqual([
      '',
      'apiregistration.k8s.io',
      'apps',
      'events.k8s.io',
    ]);
    expect(groups.find((group) => group.name === 'autoscaling')?.versions.map((version) => version.name)).toEqual([
      'v2',
      'v1',
    ]);
  });

  it('tells borrowed kinds from own ones', () => {
    const apps = loadDiscovery('v1.30').find((group) => group.name === 'apps')?.versions[0];
    const deployments = apps?.resources.find((resource) => resource.name === 'deployments');
    expect(deployments).toMatchObject({
      kind: 'Deployment',
      kindGroup: 'apps',
      foreignKind: false,
      shortNames: ['deploy'],
      namespaced: true,
    });
    expect(deployments?.subresources.find((sub) => sub.name === 'scale')).toMatchObject({
      kindGroup: 'autoscaling',
      kindVersion: 'v1',
      kind: 'Scale',
      foreignKind: true,
    });
  });
});

describe('loadTableColumns', () => {
  it('has the columns of core and grouped resources', () => {
    const columns = loadTableColumns('v1.30');
    expect(columns.get(tableColumnsKey('', 'v1', 'configmaps'))?.map((column) => column.name)).toEqual([
      'Name',
      'Data',
      'Age',
    ]);
    expect(columns.get(tableColumnsKey('apps', 'v1', 'deployments'))?.[0]).toMatchObject({
      name: 'Name',
      type: 'string',
      format: 'name',
      priority: 0,
    });
  });
});
