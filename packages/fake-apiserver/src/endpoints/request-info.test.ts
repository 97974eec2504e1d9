import { describe, expect, it } from 'vitest';
import { Query } from './query.ts';
import { isLongRunning, newRequestInfo } from './request-info.ts';

function info(method: string, target: string) {
  const [path = '', query = ''] = target.split('?', 2);
  return newRequestInfo(method, path, new Query(query));
}

describe('newRequestInfo', () => {
  // Upstream test: apiserver@v0.30.3:pkg/endpoints/request/requestinfo_test.go#TestGetAPIRequestInfo
  it.each([
    ['GET', '/api/v1/namespaces', 'list', '', 'namespaces', '', ''],
    ['GET', '/api/v1/namespaces/other', 'get', 'other', 'namespaces', 'other', ''],
    ['GET', '/api/v1/namespaces/other/pods', 'list', 'other', 'pods', '', ''],
    ['GET', '/api/v1/namespaces/other/pods/foo', 'get', 'other', 'pods', 'foo', ''],
    ['HEAD', '/api/v1/namespaces/other/pods/foo', 'get', 'other', 'pods', 'foo', ''],
    ['GET', '/api/v1/pods', 'list', '', 'pods', '', ''],
    ['HEAD', '/api/v1/pods', 'list', '', 'pods', '', ''],
    ['GET', '/api/v1/namespaces/other/pods/foo/status', 'get', 'other', 'pods', 'foo', 'status'],
    ['PUT', '/api/v1/namespaces/other/finalize', 'update', 'other', 'namespaces', 'other', 'finalize'],
    ['PUT', '/api/v1/namespaces/other/status', 'update', 'other', 'namespaces', 'other', 'status'],
    ['POST', '/api/v1/namespaces/other/pods', 'create', 'other', 'pods', '', ''],
    ['PATCH', '/api/v1/namespaces/other/pods/foo', 'patch', 'other', 'pods', 'foo', ''],
    ['DELETE', '/api/v1/namespaces/other/pods/foo', 'delete', 'other', 'pods', 'foo', ''],
    ['DELETE', '/api/v1/namespaces/other/pods', 'deletecollection', 'other', 'pods', '', ''],
    ['DELETE', '/api/v1/nodes', 'deletecollection', '', 'nodes', '', ''],
    ['GET', '/api/v1/watch/pods', 'watch', '', 'pods', '', ''],
    ['GET', '/api/v1/watch/namespaces/other/pods', 'watch', 'other', 'pods', '', ''],
    ['GET', '/api/v1/watch/namespaces/other/pods/foo', 'watch', 'other', 'pods', 'foo', ''],
    ['GET', '/api/v1/namespaces//pods', 'list', '', 'pods', '', ''],
    ['GET', '/api/v1/namespaces/other/pods/', 'list', 'other', 'pods', '', ''],
    ['GET', '/apis/apps/v1/namespaces/other/deployments', 'list', 'other', 'deployments', '', ''],
  ])('reads %s %s as %s', (method, target, verb, namespace, resource, name, subresource) => {
    expect(info(method, target)).toMatchObject({
      isResourceRequest: true,
      verb,
      namespace,
      resource,
      name,
      subresource,
    });
  });

  it.each([
    ['GET', '/'],
    ['GET', '/api'],
    ['GET', '/api/v1'],
    ['GET', '/apis'],
    ['GET', '/apis/apps'],
    ['GET', '/apis/apps/v1'],
    ['GET', '/apis/apps/v1/'],
    ['POST', '/version'],
    ['GET', '/healthz/ping'],
    ['GET', '/api/v1/watch'],
  ])('takes %s %s for no resource', (method, target) => {
    expect(info(method, target)).toMatchObject({ isResourceRequest: false, verb: method.toLowerCase(), resource: '' });
  });

  it.each([
    ['?watch=true', 'watch'],
    ['?watch=1', 'watch'],
    ['?watch=', 'watch'],
    ['?watch', 'watch'],
    ['?watch=0', 'list'],
    ['?watch=False', 'list'],
    ['?watch=0&watch=1', 'list'],
    ['', 'list'],
    // The rest of the query cannot be decoded.
    ['?watch=true&limit=x', 'watch'],
    ['?watch=false&limit=x', 'list'],
    ['?limit=x', 'list'],
  ])('decides by the query %s that it is a %s', (query, verb) => {
    expect(info('GET', `/api/v1/namespaces/a/pods${query}`).verb).toBe(verb);
  });

  it('takes the name from a field selector that pins it', () => {
    expect(info('GET', '/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Dx').name).toBe('x');
    expect(info('GET', '/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3D..').name).toBe('');
    expect(info('GET', '/api/v1/namespaces/a/pods?fieldSelector=metadata.name!%3Dx').name).toBe('');
  });

  it('knows the group of a prefix that is too short for a resource', () => {
    expect(info('GET', '/apis/apps/v1')).toMatchObject({ apiPrefix: 'apis', apiGroup: 'apps' });
  });
});

describe('isLongRunning', () => {
  it.each([
    ['/api/v1/pods?watch=1', true],
    ['/api/v1/watch/pods', true],
    ['/api/v1/namespaces/a/pods/b/log', true],
    ['/api/v1/namespaces/a/pods/b/exec', true],
    ['/api/v1/namespaces/a/pods/b', false],
    ['/healthz', false],
  ])('says of GET %s: %s', (target, expected) => {
    expect(isLongRunning(info('GET', target))).toBe(expected);
  });
});
