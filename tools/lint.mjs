// Everything that is checked without running the product: format and lint, import directions, file lengths, head comments.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const SOURCE_LINES = 300;
const TEST_LINES = 500;
let failed = false;

function step(name, run) {
  const problems = run();
  if (problems.length > 0) failed = true;
  console.log(`${problems.length === 0 ? 'ok  ' : 'FAIL'} ${name}`);
  for (const problem of problems) console.log(`     ${problem}`);
}

function command(args) {
  const result = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  return result.status === 0 ? [] : `${result.stdout}${result.stderr}`.trim().split('\n').slice(-60);
}

const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter(Boolean);
const sources = tracked.filter(
  (file) => /^(packages|contract|examples|bench|interop)\/.*\.ts$/.test(file) && !file.endsWith('.d.ts'),
);
const read = (file) => readFileSync(`${root}${file}`, 'utf8');

step('biome', () => command(['node_modules/@biomejs/biome/bin/biome', 'check', '--diagnostic-level=error', '.']));
step('import directions', () =>
  command([
    'node_modules/dependency-cruiser/bin/dependency-cruise.mjs',
    '--config',
    'tools/dependency-cruiser.cjs',
    '--output-type',
    'err',
    'packages',
  ]),
);
step('file lengths', () =>
  sources.flatMap((file) => {
    const limit = /\.(test|test-d)\.ts$/.test(file) || /(^contract|\/test)\//.test(file) ? TEST_LINES : SOURCE_LINES;
    const lines = read(file).split('\n').length - 1;
    return lines > limit ? [`${file}: ${lines} lines, limit ${limit}`] : [];
  }),
);
step('error codes and docs/errors.md', () => command(['tools/check-error-docs.mjs']));
step('docs/upstream-map.md', () => command(['tools/upstream-map.mjs', '--check']));
step('Upstream tags', () =>
  sources.flatMap((file) =>
    read(file)
      .split('\n')
      .flatMap((line, index) => {
        const tag = /^\s*(?:\/\/|\*)\s*Upstream(?: test)?: (.+)$/.exec(line)?.[1];
        // A tag names module@version:path, or says in words which concept it follows.
        return tag?.includes('@') && !/[\w./-]+@[\w.-]+:[\w./*{}-]+/.test(tag)
          ? [`${file}:${index + 1}: malformed tag "${tag}"`]
          : [];
      }),
  ),
);
step('no forbidden constructs', () =>
  sources.flatMap((file) =>
    read(file)
      .split('\n')
      .flatMap((line, index) => {
        const bad = [
          /@ts-(ignore|nocheck)/,
          /^(?!\s*(?:\/\/|\*)).*\bas any\b(?=[\s;,).\]]*(?:$|[;,).\]]))/,
          /\b(it|test|describe)\.(only|todo)\b/,
        ].find((pattern) => pattern.test(line));
        return bad === undefined ? [] : [`${file}:${index + 1}: ${bad.source}`];
      }),
  ),
);
step('time only through the clock', () =>
  sources
    .filter(
      (file) =>
        /^packages\/(apimachinery|informer|fake-apiserver)\/src\//.test(file) &&
        !file.endsWith('.test.ts') &&
        !file.endsWith('/clock.ts'),
    )
    .flatMap((file) =>
      read(file)
        .split('\n')
        .flatMap((line, index) =>
          /\bDate\.now\(|\bnew Date\(\)|(?<!\.)\bsetTimeout\(|(?<!\.)\bsetInterval\(|\bMath\.random\(|AbortSignal\.timeout\(|timers\/promises/.test(
            line,
          ) &&
          !/^\s*(\/\/|\*)/.test(line) &&
          !line.includes('clock-exempt:') &&
          !file.endsWith('apimachinery/src/virtual-clock.ts')
            ? [`${file}:${index + 1}: ${line.trim()}`]
            : [],
        ),
    ),
);
process.exit(failed ? 1 : 0);
