import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Configuration of `npm run test:containers`. */
export default defineConfig({
  root,
  test: {
    include: ['services/acceptance/containers/*.check.ts', 'services/query/definitions/every-statement.test.ts'],
    environment: 'node',
    tags: [{ name: 'long', description: 'what `npm test` leaves out; here everything runs' }],
    expect: { requireAssertions: true },
    experimental: { viteModuleRunner: false },
    // One worker, because the statements read data that the replication tests create first.
    maxWorkers: 1,
    testTimeout: 60_000,
    hookTimeout: 240_000,
  },
})
