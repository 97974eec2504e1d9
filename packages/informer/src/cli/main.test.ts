import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { eventually, startTestServer } from '../../test/support/http-server.ts';
import type { ProcessLike } from './main.ts';
import { main } from './main.ts';

function fakeProcess() {
  const signals = new EventEmitter();
  const stdout = Object.assign(new EventEmitter(), {
    text: '',
    write(text: string) {
      this.text += text;
    },
  });
  const stderr = {
    text: '',
    write(text: string) {
      this.text += text;
    },
  };
  const process: ProcessLike = {
    stdout,
    stderr,
    env: { HOME: '/nonexistent' },
    on: (signal, listener) => signals.on(signal, listener),
    off: (signal, listener) => signals.off(signal, listener),
  };
  return { process, stdout, stderr, signals };
}

const DOCUMENTS: Record<string, unknown> = {
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/apis': { kind: 'APIGroupList', groups: [] },
  '/api/v1': {
    kind: 'APIResourceList',
    groupVersion: 'v1',
    resources: [{ name: 'nodes', namespaced: false, kind: 'Node', verbs: ['list', 'watch'] }],
  },
};

describe('main', () => {
  it('prints help and version, and explains what it does not understand', async () => {
    const help = fakeProcess();
    expect(await main(['--help'], help.process)).toBe(0);
    expect(help.stdout.text).toMatch(/^Usage: kube-informer watch RESOURCE/);
    const version = fakeProcess();
    expect(await main(['--version'], version.process)).toBe(0);
    expect(version.stdout.text).toMatch(/^\d+\.\d+\.\d+\n$/);
    const wrong = fakeProcess();
    expect(await main(['watch'], wrong.process)).toBe(2);
    expect(wrong.stderr.text).toMatch(/^kube-informer: option RESOURCE/);
    const untrusted = fakeProcess();
    const server = ['--server', 'https://127.0.0.1:1', '--certificate-authority', '/nonexistent/ca.pem'];
    expect(await main(['watch', 'pods', ...server], untrusted.process)).toBe(1);
    expect(untrusted.stderr.text).toMatch(/^kube-informer: certificate file \/nonexistent\/ca.pem: /);
    const nowhere = fakeProcess();
    expect(await main(['watch', 'pods'], nowhere.process)).toBe(1);
    expect(nowhere.stderr.text).toContain('no kubeconfig was found');
  });

  it('watches a server until it gets a signal, and says who it is', async () => {
    let authorization: string | undefined;
    let agent: string | undefined;
    await using server = await startTestServer((request, response) => {
      const url = new URL(request.url ?? '', 'http://x');
      ({ authorization, 'user-agent': agent } = request.headers);
      response.setHeader('content-type', 'application/json');
      response.setHeader('warning', '299 - "nodes are old"');
      if (url.pathname in DOCUMENTS) response.end(JSON.stringify(DOCUMENTS[url.pathname]));
      else if (url.searchParams.get('watch') === 'true') {
        const object = { kind: 'Node', apiVersion: 'v1', metadata: { name: 'n', uid: 'u', resourceVersion: '6' } };
        response.write(`${JSON.stringify({ type: 'ADDED', object })}\n`);
      } else
        response.end(
          JSON.stringify({ kind: 'NodeList', apiVersion: 'v1', metadata: { resourceVersion: '5' }, items: [] }),
        );
    });
    const { process, stdout, stderr, signals } = fakeProcess();
    const running = main(['watch', 'node', '--server', server.url, '--token', 't', '--json'], process);
    await eventually(() => stdout.text.includes('"added"'));
    signals.emit('SIGTERM');
    expect(await running).toBe(0);
    expect([authorization, agent]).toEqual(['Bearer t', expect.stringMatching(/^kube-informer\/\d/)]);
    expect(stderr.text).toContain('warning: nodes are old');
    expect(signals.listenerCount('SIGTERM') + signals.listenerCount('SIGINT')).toBe(0);
  });

  it('ends after the seconds it is given, and when its reader leaves', async () => {
    await using server = await startTestServer((_request, response) => response.destroy());
    const timed = fakeProcess();
    expect(await main(['watch', 'node', '--server', server.url, '--seconds', '0.05'], timed.process)).toBe(0);
    const piped = fakeProcess();
    const running = main(['watch', 'node', '--server', server.url], piped.process);
    await eventually(() => piped.stderr.text.includes('cannot reach'));
    piped.stdout.emit('error', new Error('EPIPE'));
    expect(await running).toBe(0);
  });
});
