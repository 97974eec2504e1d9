import type { ViteUserConfig } from 'vitest/config';

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
  },
};
