import { describe, expect, it } from 'vitest';
import { listQuery, requestUrl, resourcePath } from './request-url.ts';
import { defineResource } from './resource-type.ts';

const Pods = defineResource()({ apiVersion: 'v1', kind: 'Pod', plural: 'pods', scope: 'Namespaced' });
const Nodes = defineResource()({ apiVersion: 'v1', kind: 'Node', plural: 'nodes', scope: 'Cluster' });
const Deployments = defineResource()({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  plural: 'Deployments',
  scope: 'Namespaced',
});

describe('resourcePath', () => {
  it.each([
    ['all namespaces', resourcePath(Pods), '/api/v1/pods'],
    ['an empty namespace', resourcePath(Pods, { namespace: '' }), '/api/v1/pods'],
    ['one namespace', resourcePath(Pods, { namespace: 'shop' }), '/api/v1/namespaces/shop/pods'],
    ['an object', resourcePath(Pods, { namespace: 'shop', name: 'web' }), '/api/v1/namespaces/shop/pods/web'],
    [
      'a group, in lower case',
      resourcePath(Deployments, { namespace: 'a', name: 'b', subresource: 'scale' }),
      '/apis/apps/v1/namespaces/a/deployments/b/scale',
    ],
    [
      'a cluster-scoped object, whatever the namespace',
      resourcePath(Nodes, { namespace: 'shop', name: 'n1' }),
      '/api/v1/nodes/n1',
    ],
    ['a name with a colon', resourcePath(Nodes, { name: 'system:node' }), '/api/v1/nodes/system%3Anode'],
  ])('makes the path of %s', (_, path, expected) => expect(path).toBe(expected));

  it.each(['', '.', '..', 'a/b', 'a%2fb'])('refuses the name %j', (name) => {
    expect(() => resourcePath(Pods, { namespace: 'shop', name })).toThrow(/option name/);
  });

  it('refuses a named object without its namespace', () => {
    expect(() => resourcePath(Pods, { name: 'web' })).toThrow(/option namespace/);
  });
});

describe('requestUrl', () => {
  it('keeps the path in front and sorts the query', () => {
    expect(requestUrl('https://proxy/k8s/', '/api/v1/pods', { watch: true, limit: 5, allow: undefined })).toBe(
      'https://proxy/k8s/api/v1/pods?limit=5&watch=true',
    );
  });
  it('encodes selectors', () => {
    expect(requestUrl('http://h', '/x', { labelSelector: 'a in (b,c)' })).toBe(
      'http://h/x?labelSelector=a+in+%28b%2Cc%29',
    );
  });
});

describe('listQuery', () => {
  it('leaves out what is not set', () => {
    expect(listQuery({ resourceVersion: '', limit: 0, watch: false, continue: '' })).toEqual({});
  });
  it('keeps an explicit false of sendInitialEvents and a version of "0"', () => {
    expect(listQuery({ sendInitialEvents: false, resourceVersion: '0' })).toEqual({
      sendInitialEvents: false,
      resourceVersion: '0',
    });
  });
});

describe('defineResource', () => {
  it('refuses an apiVersion that is none', () => {
    expect(() => defineResource()({ apiVersion: 'a/b/c', kind: 'X', plural: 'xs', scope: 'Cluster' })).toThrow(
      /apiVersion/,
    );
  });
});
