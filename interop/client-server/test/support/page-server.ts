// Serves a page with the built packages as plain modules, and the API under the same origin, as a dashboard's own server would.
import { realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, request as httpRequest } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const INFORMER = `${ROOT}packages/informer/`;
// A dependency of rxjs, which lies beside it.
const TSLIB = dirname(
  createRequire(realpathSync(`${INFORMER}node_modules/rxjs/package.json`)).resolve('tslib/package.json'),
);
/** Where the modules under a path are. */
const MODULES: Readonly<Record<string, string>> = {
  '/apimachinery/': `${ROOT}packages/apimachinery/dist/`,
  '/informer/': `${INFORMER}dist/`,
  '/rxjs/': `${INFORMER}node_modules/rxjs/dist/esm/`,
  '/lru-cache/': `${INFORMER}node_modules/lru-cache/dist/esm/browser/`,
  '/tslib/': `${TSLIB}/`,
};
/** The paths of rxjs that the informer imports from. */
const RXJS_PARTS = ['BehaviorSubject', 'Observable', 'Subject', 'observable/combineLatest', 'operators/map'];
const IMPORT_MAP = {
  imports: {
    '@kube-rx/apimachinery': '/apimachinery/index.js',
    '@kube-rx/informer/browser': '/informer/browser.js',
    'lru-cache': '/lru-cache/index.js',
    rxjs: '/rxjs/index.js',
    ...Object.fromEntries(RXJS_PARTS.map((name) => [`rxjs/internal/${name}`, `/rxjs/internal/${name}.js`])),
    tslib: '/tslib/tslib.es6.mjs',
  },
};

export interface PageServer extends AsyncDisposable {
  readonly url: string;
  /** What the page has posted to /report, a line each. */
  readonly reports: readonly string[];
}

/** `script` is the page's module; `api` the address of the API server. */
export async function startPageServer(script: string, api: string): Promise<PageServer> {
  const reports: string[] = [];
  const page = `<!doctype html><script type="importmap">${JSON.stringify(IMPORT_MAP)}</script>
    <script type="module">const report = (text) => fetch('/report', { method: 'POST', body: String(text) });
    addEventListener('error', ({ message }) => report('error: ' + message));
    addEventListener('unhandledrejection', ({ reason }) => report('error: ' + reason));
    </script><script type="module">const report = (text) => fetch('/report', { method: 'POST', body: String(text) });
    ${script}</script>`;
  const target = new URL(api);
  const server = createServer((request, response) => {
    const url = request.url ?? '/';
    if (url === '/') response.setHeader('content-type', 'text/html').end(page);
    else if (url === '/report') void report(request, response, reports);
    else if (url === '/favicon.ico') response.writeHead(404).end();
    else if (/^\/(api|apis|version)\b/.test(url)) proxy(request, response, target);
    else void serveModule(url, response);
  });
  server.on('upgrade', (request, socket, head) => {
    const upstream = connect(Number(target.port), target.hostname, () => {
      const headers = request.rawHeaders.flatMap((text, index) =>
        index % 2 === 0 ? [`${text}: ${request.rawHeaders[index + 1]}`] : [],
      );
      upstream.write(`${request.method} ${request.url} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`);
      upstream.write(head);
      socket.pipe(upstream).pipe(socket);
    });
    const end = (): void => {
      socket.destroy();
      upstream.destroy();
    };
    for (const each of [socket, upstream]) each.on('error', end);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    reports,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function report(request: IncomingMessage, response: ServerResponse, reports: string[]): Promise<void> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  reports.push(text);
  response.end();
}

function proxy(request: IncomingMessage, response: ServerResponse, target: URL): void {
  const outgoing = httpRequest(
    { host: target.hostname, port: target.port, method: request.method, path: request.url, headers: request.headers },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    },
  );
  outgoing.on('error', () => response.destroy());
  response.on('close', () => outgoing.destroy());
  request.pipe(outgoing);
}

/** Packages written for bundlers leave the ending of their own modules out. */
async function serveModule(url: string, response: ServerResponse): Promise<void> {
  const prefix = Object.keys(MODULES).find((each) => url.startsWith(each));
  if (prefix === undefined || url.includes('..')) {
    response.writeHead(404).end();
    return;
  }
  const path = `${MODULES[prefix]}${url.slice(prefix.length)}`;
  for (const candidate of [path, `${path}.js`, `${path}/index.js`]) {
    try {
      const text = await readFile(candidate);
      response.setHeader('content-type', 'text/javascript').end(text);
      return;
    } catch {
      // The next one.
    }
  }
  response.writeHead(404).end();
}
