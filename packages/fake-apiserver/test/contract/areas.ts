// Which file plays which area. Nothing is left out: areas.test.ts counts.

/** What is read and followed. */
export const STREAMS: readonly string[] = ['gone', 'gone-nocache', 'get', 'list', 'restart', 'watch', 'watchlist'];

/** What is written, and what types do. */
export const OBJECTS: readonly string[] = [
  'apply',
  'crd',
  'create',
  'delete',
  'discovery',
  'kinds',
  'patch',
  'rbac',
  'subresource',
  'update',
];

/** What is played once more over HTTP/2. */
export const OVER_HTTP2: readonly string[] = ['get', 'list', 'watch'];
