import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'

const root = fileURLToPath(new URL('..', import.meta.url))
const { TEST_REPORT: report, TEST_NATS_URL, TEST_REDIS_URL, TEST_POSTGRES_URL } = process.env
/**
 * Whether tests use a server whose address is set in a variable. All test files share that server, so they run one at a
 * time.
 */
const isShared = [TEST_NATS_URL, TEST_REDIS_URL, TEST_POSTGRES_URL].some(Boolean)

/** Timeout of `expect.poll` on a busy machine. A longer timeout never makes a wrong test pass. */
const expect = { requireAssertions: true, poll: { timeout: 30_000 } }

/**
 * Tests that bound in seconds how the product recovers from a killed process or server. Beside other tests, they would
 * measure how busy the machine is, so each runs alone.
 */
const recoveryTests = ['services/acceptance/{nats-restart,outage}.test.ts']

/** The options of tests on plain Node. */
const onNode = {
  environment: 'node',
  expect,
  experimental: { viteModuleRunner: false },
  // Modules have no state between files, so each worker loads them once.
  isolate: false,
  // Real servers and engines start slowly on a busy machine.
  testTimeout: 60_000,
  hookTimeout: 120_000,
} as const

/** The projects: tests of the services on plain Node, those that run alone, unit tests of the web UI, browser tests. */
export default defineConfig({
  root,
  test: {
    // Tests spend half of the time waiting for servers and timers, so four workers use two cores.
    maxWorkers: isShared ? 1 : 4,
    tags: [
      {
        name: 'long',
        description:
          'faults, fuzzing, soak tests, real servers, catalogues, pages of single features: only in `npm run test:all`',
      },
      { name: 'night', description: 'needs resources that only the nightly machines have' },
    ],
    reporters: report ? ['default', 'json'] : ['default'],
    outputFile: report ? { json: report } : {},
    projects: [
      {
        root,
        test: {
          name: 'services',
          include: ['proto/**/*.test.ts', 'services/**/*.test.ts', 'release/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...recoveryTests],
          ...onNode,
          sequence: { groupOrder: 0 },
        },
      },
      {
        root,
        test: { name: 'recovery', include: recoveryTests, ...onNode, maxWorkers: 1, sequence: { groupOrder: 3 } },
      },
      {
        root,
        resolve: { alias: { '#proto': `${root}proto` } },
        test: {
          name: 'web',
          isolate: false,
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
          ...onNode,
          // With two workers, one test loads its page while another waits. No assertion depends on timing.
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
