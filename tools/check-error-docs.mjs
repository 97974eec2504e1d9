// docs/errors.md and the error codes in the sources name the same set, in both directions.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const FILES = [
  'packages/apimachinery/src/options-error.ts',
  'packages/apimachinery/src/selector.ts',
  'packages/apimachinery/src/quantity.ts',
  'packages/informer/src/errors.ts',
  'packages/fake-apiserver/src/errors.ts',
  'packages/fake-apiserver/src/etcd/errors.ts',
  'packages/fake-apiserver/src/storage/errors.ts',
];

/** Codes are a union type named ...Code, or one `code = '...'` field. */
function codesIn(file) {
  const text = readFileSync(`${root}${file}`, 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
  const unions = [...text.matchAll(/type \w+Code =([^;]*);/g)].map((match) => match[1]);
  const quoted = unions.flatMap((union) => [...union.matchAll(/'(\w+)'/g)].map((match) => match[1]));
  return [...quoted, ...[...text.matchAll(/\bcode(?:: \w+)? = '(\w+)'/g)].map((match) => match[1])];
}

const coded = new Set(FILES.flatMap(codesIn));
const page = readFileSync(`${root}docs/errors.md`, 'utf8');
const rows = page.split('\n').filter((line) => line.startsWith('|'));
const documented = new Set(
  rows.flatMap((row) => [...(row.split('|')[2] ?? '').matchAll(/`(\w+)`/g)].map((match) => match[1])),
);
for (const name of ['code', 'reason']) documented.delete(name);
const problems = [
  ...[...coded].filter((code) => !documented.has(code)).map((code) => `${code} is not in docs/errors.md`),
  ...[...documented]
    .filter((code) => !coded.has(code))
    .map((code) => `${code} is in docs/errors.md, but not in the sources`),
];
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);
