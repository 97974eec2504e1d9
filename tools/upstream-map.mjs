// Writes docs/upstream-map.md from the `Upstream:` tags in the sources, so that the map cannot drift from the code.
// `--check` fails when the file on disk is not what the tags say. Hand-written parts come from docs/upstream-map.notes.md; a test that
// they name must be there under that name.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = `${root}docs/upstream-map.md`;
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'packages', 'contract'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file.endsWith('.ts') && existsSync(`${root}${file}`));

const rows = { code: [], test: [] };
for (const file of files) {
  // A tag may run over the following comment lines; the places it names are what counts.
  const comments = readFileSync(`${root}${file}`, 'utf8').matchAll(
    /^\s*(?:\/\/|\*) Upstream( test)?: (.*(?:\n\s*(?:\/\/|\*)\s{2,}\S.*)*)/gm,
  );
  for (const [, test, text] of comments) {
    for (const [place] of text.matchAll(/[\w./-]+@[\w.-]+:[\w./*{},-]+(?:#[\w.*,]+)?/g)) {
      rows[test || /\.test\.ts$|\.suite\.ts$/.test(file) ? 'test' : 'code'].push({
        place: place.replace(/[.,]$/, ''),
        file,
      });
    }
  }
}

function table(entries) {
  const seen = new Map();
  for (const { place, file } of entries) seen.set(place, new Set([...(seen.get(place) ?? []), file]));
  const lines = [...seen]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([place, where]) =>
        `| \`${place}\` | ${[...where]
          .sort()
          .map((file) => `\`${file}\``)
          .join(', ')} |`,
    );
  return ['| upstream | here |', '|---|---|', ...lines].join('\n');
}

const notes = readFileSync(`${root}docs/upstream-map.notes.md`, 'utf8').trim();

/** Where a name of the notes points to, by the side whose table it stands in. */
function fileOf(name, client) {
  const [top, ...rest] = name.split('/');
  const places = {
    suites: [`contract/${name}.suite.ts`],
    contract: [name],
    packages: [`${name}.test.ts`],
    interop: [`interop/client-server/test/${rest.join('/')}.test.ts`, `${name}.test.ts`],
    cacher: [`packages/fake-apiserver/src/storage/${name}.test.ts`],
    etcd3: [`packages/fake-apiserver/src/storage/${name}.test.ts`],
  }[top];
  const own = client
    ? [`packages/informer/src/${name}.test.ts`, `packages/informer/${name}.test.ts`]
    : [`packages/fake-apiserver/${name}.test.ts`];
  return (places ?? own).find((file) => existsSync(`${root}${file}`));
}

/** Names of tests in the notes that no file has. */
function missingTests() {
  const problems = [];
  let client = false;
  for (const line of notes.split('\n')) {
    if (line.startsWith('### ')) client = line === '### The client';
    if (!/^\| .* \| .* \|$/.test(line) || !notes.slice(notes.indexOf('## Kinds of upstream tests')).includes(line))
      continue;
    const here = line.slice(line.indexOf(' | ') + 3);
    for (const [, name, server, sentences = ''] of here.matchAll(
      /`((?:[\w.-]+\/)+[\w.-]+)`( of the server)?(?:: ((?:(?:“[^”]*”|\/[^“;|`]*?)(?:, )?)+))?/g,
    )) {
      const file = fileOf(name, client && server === undefined);
      if (file === undefined) {
        problems.push(`${name}: no such file`);
        continue;
      }
      const text = readFileSync(`${root}${file}`, 'utf8').replaceAll("\\'", "'");
      for (const [, quoted] of sentences.matchAll(/“([^”]*)”/g)) {
        const parts = quoted.replace(/ ?…$/, '').split(/%\w/);
        const pattern = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('(?:%\\w|\\$\\{\\w+\\})');
        if (!new RegExp(pattern).test(text)) problems.push(`${file}: no test “${quoted}”`);
      }
    }
  }
  return problems;
}
const text = `# Upstream map

Made by \`node tools/upstream-map.mjs\` from the \`Upstream:\` tags in the sources; do not edit.

${notes}

## Code
${table(rows.code)}

## Tests that follow an upstream test or suite
${table(rows.test)}
`;
const missing = missingTests();
if (missing.length > 0) {
  console.error(`docs/upstream-map.notes.md names tests that are not there:\n${missing.join('\n')}`);
  process.exitCode = 1;
}
if (process.argv.includes('--check')) {
  if (!existsSync(target) || readFileSync(target, 'utf8') !== text) {
    console.error('docs/upstream-map.md is stale: run node tools/upstream-map.mjs');
    process.exit(1);
  }
} else {
  writeFileSync(target, text);
}
