import { describe, expect, it } from 'vitest';
import { loadSchemaRegistry, normalizeBuiltin, normalizeUnstored } from './index.ts';

const registry = loadSchemaRegistry('v1.30');
const normalize = (group: string, version: string, kind: string, object: object) =>
  normalizeBuiltin({ apiVersion: 'x', kind, ...object } as unknown, registry.byKind(group, version, kind)) as Record<
    string,
    unknown
  >;

describe('normalizeBuiltin', () => {
  it('shows structs and required lists that are not there, in Go order', () => {
    const pod = normalize('', 'v1', 'Pod', { spec: {}, metadata: { labels: {}, name: 'a' } });
    expect(JSON.stringify(pod)).toBe(
      '{"kind":"Pod","apiVersion":"x","metadata":{"name":"a","creationTimestamp":null},"spec":{"containers":null},"status":{}}',
    );
  });

  it('keeps zero behind a pointer and drops it elsewhere', () => {
    const deployment = normalize('apps', 'v1', 'Deployment', {
      spec: { replicas: 0, minReadySeconds: 0, paused: false },
    });
    expect(deployment['spec']).toEqual({
      replicas: 0,
      selector: null,
      template: { metadata: { creationTimestamp: null }, spec: { containers: null } },
      strategy: {},
    });
  });

  it('writes null list items as zero values', () => {
    const pod = normalize('', 'v1', 'Pod', { spec: { containers: [{ args: [null, 'a'], env: [null] }] } });
    expect(pod['spec']).toEqual({ containers: [{ name: '', args: ['', 'a'], env: [{ name: '' }], resources: {} }] });
  });

  it('spells times and quantities as Go does', () => {
    const quota = normalize('', 'v1', 'ResourceQuota', {
      metadata: { creationTimestamp: '2024-01-01T01:00:00.5+01:00' },
      spec: { hard: { memory: '1024Mi', cpu: 1.5 } },
    });
    expect(quota).toMatchObject({
      metadata: { creationTimestamp: '2024-01-01T00:00:00Z' },
      spec: { hard: { cpu: '1500m', memory: '1Gi' } },
    });
  });

  it('cannot tell an empty required list from none, but in a CRD it can', () => {
    expect(normalize('rbac.authorization.k8s.io', 'v1', 'Role', { rules: [] })['rules']).toBeNull();
    const crd = normalize('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition', {
      status: { storedVersions: [], conditions: [] },
    });
    expect(crd['status']).toMatchObject({ storedVersions: [], conditions: [] });
  });

  it('keeps empty required lists and an empty managedFields until the object is stored', () => {
    const schema = registry.byKind('rbac.authorization.k8s.io', 'v1', 'Role');
    const role = { apiVersion: 'x', kind: 'Role', metadata: { name: 'a', managedFields: [], labels: {} }, rules: [] };
    const decoded = normalizeUnstored<unknown>(role, schema);
    expect(decoded).toEqual({
      kind: 'Role',
      apiVersion: 'x',
      metadata: { name: 'a', creationTimestamp: null, managedFields: [] },
      rules: [],
    });
    expect(normalizeBuiltin(decoded, schema)).toEqual({
      kind: 'Role',
      apiVersion: 'x',
      metadata: { name: 'a', creationTimestamp: null },
      rules: null,
    });
  });

  it('never changes its input', () => {
    const input = Object.freeze({
      metadata: Object.freeze({ labels: Object.freeze({}) }),
      data: Object.freeze({ b: '1', a: null }),
    });
    expect(normalize('', 'v1', 'ConfigMap', input)['data']).toEqual({ a: '', b: '1' });
  });

  it('is idempotent', () => {
    const once = normalize('', 'v1', 'Service', { spec: { ports: [{ port: 80, targetPort: 'x' }], selector: {} } });
    expect(normalizeBuiltin(once, registry.byKind('', 'v1', 'Service'))).toEqual(once);
  });
});
