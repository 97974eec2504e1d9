import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import * as browser from './browser.ts';
import * as full from './index.ts';

/** Every module that the entry reaches by an import that is not a type, and every package. */
function reach(entry: string): { readonly modules: Set<string>; readonly packages: Set<string> } {
  const modules = new Set<string>();
  const packages = new Set<string>();
  const visit = (file: string): void => {
    if (modules.has(file)) return;
    modules.add(file);
    const text = readFileSync(file, 'utf8');
    for (const [, kind, specifier] of text.matchAll(/^(import|export) (?!type )[^;]*?from '([^']+)';/gms)) {
      expect(kind).toBeDefined();
      if (specifier!.startsWith('.')) visit(resolve(dirname(file), specifier!));
      else packages.add(specifier!.startsWith('@') ? specifier! : specifier!.split('/', 1)[0]!);
    }
  };
  visit(entry);
  return { modules, packages };
}

describe('the entry for browsers', () => {
  it('reaches no module of Node and no transport that needs one', () => {
    const { modules, packages } = reach(fileURLToPath(new URL('browser.ts', import.meta.url)));
    expect(modules.size).toBeGreaterThan(80);
    expect([...packages].sort()).toEqual(['@kube-rx/apimachinery', 'lru-cache', 'rxjs']);
  });

  it('has nothing that the main entry lacks', () => {
    const missing = Object.keys(browser).filter((name) => !(name in full));
    expect(missing).toEqual([]);
    for (const name of [
      'RestClient',
      'createFetchTransport',
      'SharedInformerFactory',
      'createController',
      'KubeClient',
      'Pods',
    ]) {
      expect(browser).toHaveProperty(name);
    }
  });

  it('takes the classes of RxJS that its users have', async () => {
    const rest = new browser.RestClient({ server: 'http://127.0.0.1:1', transport: browser.createFetchTransport() });
    await using factory = new browser.SharedInformerFactory(new browser.KubeClient(rest));
    expect(factory.informer(browser.Pods).status$).toBeInstanceOf(Observable);
  });
});
