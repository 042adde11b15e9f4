import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** Configuration of `npm run test:image`. */
export default defineConfig({
  root: fileURLToPath(new URL('../../..', import.meta.url)),
  test: {
    include: ['services/acceptance/image/*.check.ts'],
    environment: 'node',
    expect: { requireAssertions: true },
    experimental: { viteModuleRunner: false },
    testTimeout: 120_000,
    hookTimeout: 900_000,
  },
})
