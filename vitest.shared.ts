import { fileURLToPath } from 'node:url';
import type { ViteUserConfig } from 'vitest/config';

const results = process.env.KUBE_RX_TEST_RESULTS;
const name = process.cwd().split('/').at(-1);

/** Tests run on the sources of every workspace package, so that no build has to come first. */
export const shared: ViteUserConfig = {
  resolve: { conditions: ['kube-rx-source'] },
  ssr: { resolve: { conditions: ['kube-rx-source'], externalConditions: [] }, noExternal: [/^@kube-rx\//] },
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 20_000,
    pool: 'forks',
    restoreMocks: true,
    reporters: results ? ['default', ['json', { outputFile: `${results}/${name}.json` }]] : ['default'],
    // A repository-wide folder keeps the cache out of the packages that are published.
    root: process.cwd(),
    server: { deps: { inline: [/@kube-rx\//] } },
  },
  cacheDir: fileURLToPath(new URL('./node_modules/.vite', import.meta.url)),
};
