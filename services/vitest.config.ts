import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const root = fileURLToPath(new URL('..', import.meta.url))
const report = process.env.TEST_REPORT

/** Two projects: the services under plain Node, as the product runs; the web's own tests and its browser journeys. */
export default defineConfig({
  root,
  test: {
    maxWorkers: 2,
    reporters: report ? ['default', 'json'] : ['default'],
    outputFile: report ? { json: report } : {},
    projects: [
      {
        root,
        test: {
          name: 'services',
          include: ['proto/**/*.test.ts', 'services/**/*.test.ts'],
          environment: 'node',
          experimental: { viteModuleRunner: false },
          testTimeout: 20_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        root,
        resolve: { alias: { '#proto': `${root}proto` } },
        test: {
          name: 'web',
          include: ['web/src/**/*.test.ts', 'web/tests/**/*.{test,e2e}.ts'],
          environment: 'node',
          testTimeout: 60_000,
          hookTimeout: 120_000,
          // One browser at a time: two would measure each other.
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
