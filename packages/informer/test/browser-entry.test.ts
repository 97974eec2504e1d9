// The browser entry must not reach a Node module, axios or ws, however deep.
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const entry = fileURLToPath(new URL('../src/browser.ts', import.meta.url));
const IMPORT = /^(?:import|export)(?! type)\s[^;]*?from '([^']+)';/gms;

function reachable(start: string): { files: Set<string>; packages: Set<string> } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const visit = (file: string): void => {
    if (files.has(file)) return;
    files.add(file);
    for (const [, specifier] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
      if (specifier!.startsWith('.')) visit(resolve(dirname(file), specifier!));
      else packages.add(specifier!);
    }
  };
  visit(start);
  return { files, packages };
}

describe('the browser entry', () => {
  it('reaches only packages that run in a browser', () => {
    const { files, packages } = reachable(entry);
    expect([...packages].sort()).toEqual(['@kube-rx/apimachinery', 'lru-cache', 'rxjs']);
    expect(files.size).toBeGreaterThan(80);
  });

  it('gives the pieces a page needs', async () => {
    const { RestClient, KubeClient, SharedInformerFactory, createFetchTransport, Pods } = await import(
      '../src/browser.ts'
    );
    const rest = new RestClient({ server: 'http://127.0.0.1:1', transport: createFetchTransport() });
    const factory = new SharedInformerFactory(new KubeClient(rest));
    expect(Pods.plural).toBe('pods');
    await factory.close();
  });
});
