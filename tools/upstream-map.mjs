// Writes docs/upstream-map.md from the `Upstream:` tags in the sources, so that the map cannot drift from the code.
// `--check` fails when the file on disk is not what the tags say. Hand-written parts come from docs/upstream-map.notes.md.
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
const text = `# Upstream map

Made by \`node tools/upstream-map.mjs\` from the \`Upstream:\` tags in the sources; do not edit.

${notes}

## Code
${table(rows.code)}

## Tests that follow an upstream test or suite
${table(rows.test)}
`;
if (process.argv.includes('--check')) {
  if (!existsSync(target) || readFileSync(target, 'utf8') !== text) {
    console.error('docs/upstream-map.md is stale: run node tools/upstream-map.mjs');
    process.exit(1);
  }
} else {
  writeFileSync(target, text);
}
