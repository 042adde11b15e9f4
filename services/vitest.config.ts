import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const root = fileURLToPath(new URL('..', import.meta.url))
const { TEST_REPORT: report, TEST_NATS_URL, TEST_REDIS_URL, TEST_POSTGRES_URL } = process.env
/** A server found by its address is shared by all test files, so they take turns. */
const isShared = [TEST_NATS_URL, TEST_REDIS_URL, TEST_POSTGRES_URL].some(Boolean)

/** What becomes so is waited for as long as a busy machine may need; nothing passes because it waited. */
const expect = { requireAssertions: true, poll: { timeout: 30_000 } }

/** Three projects: the services under plain Node, as the product runs; the web's own tests; its journeys in a browser. */
export default defineConfig({
  root,
  test: {
    // A third of the time of a test is spent waiting for servers and timers, so three fill two cores.
    maxWorkers: isShared ? 1 : 3,
    tags: [
      { name: 'long', description: 'faults, fuzz, soak, real servers, whole catalogues: left to `npm run test:all`' },
      { name: 'night', description: 'needs what only machines of the night have' },
    ],
    reporters: report ? ['default', 'json'] : ['default'],
    outputFile: report ? { json: report } : {},
    projects: [
      {
        root,
        test: {
          name: 'services',
          include: ['proto/**/*.test.ts', 'services/**/*.test.ts'],
          environment: 'node',
          expect,
          experimental: { viteModuleRunner: false },
          // Modules keep nothing between files, so they are loaded once for all files of a worker.
          isolate: false,
          // Real servers and engines start slowly on a busy machine; nothing passes because it waited.
          testTimeout: 60_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        root,
        resolve: { alias: { '#proto': `${root}proto` } },
        test: {
          name: 'web',
          include: ['web/{src,build-time,tests}/**/*.test.ts'],
          environment: 'node',
          expect,
          sequence: { groupOrder: 1 },
        },
      },
      {
        root,
        test: {
          name: 'browser',
          include: ['web/tests/**/*.e2e.ts'],
          environment: 'node',
          expect,
          experimental: { viteModuleRunner: false },
          isolate: false,
          testTimeout: 60_000,
          hookTimeout: 120_000,
          // One loads its page while the other waits for what was asked; nothing that they look at is a matter of time.
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
