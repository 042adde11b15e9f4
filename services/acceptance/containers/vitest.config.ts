import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Configuration of the tests with servers in containers, which `npm test` does not run. */
export default defineConfig({
  root,
  test: {
    include: ['services/acceptance/containers/*.check.ts', 'services/query/definitions/every-statement.test.ts'],
    environment: 'node',
    tags: [{ name: 'long', description: 'what `npm test` leaves out; here everything runs' }],
    expect: { requireAssertions: true },
    experimental: { viteModuleRunner: false },
    // Sequential, because statements read the results of earlier replication tests.
    maxWorkers: 1,
    testTimeout: 60_000,
    hookTimeout: 240_000,
  },
})
