// The examples of the READMEs, run as they stand on the built packages.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { afterAll, describe, expect, it } from 'vitest';

const ROOT = new URL('../../../', import.meta.url);
const SCRATCH = new URL('../.tmp/', import.meta.url);

/** The first TypeScript block that starts a server, so that it needs nothing else. */
function firstExample(file: string): string {
  const text = readFileSync(new URL(file, ROOT), 'utf8');
  const blocks = [...text.matchAll(/^```ts\n(.*?)^```/gms)].map((match) => match[1]!);
  const example = blocks.find((block) => block.includes('startFakeApiServer('));
  if (example === undefined) throw new Error(`${file} has no example that starts a server`);
  return example;
}

describe('the examples of the READMEs', () => {
  afterAll(() => rmSync(SCRATCH, { recursive: true, force: true }));

  it.each(['README.md', 'packages/fake-apiserver/README.md'])('%s runs to its end', async (file) => {
    const { outputText } = ts.transpileModule(firstExample(file), {
      compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
    });
    mkdirSync(SCRATCH, { recursive: true });
    const program = new URL(`${file.replaceAll('/', '-')}.mjs`, SCRATCH);
    writeFileSync(program, outputText);
    await expect(import(/* @vite-ignore */ pathToFileURL(program.pathname).href)).resolves.toBeDefined();
  });
});
