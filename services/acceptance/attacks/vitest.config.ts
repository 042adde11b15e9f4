import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/**
 * Configuration of `npm run test:attacks`. The regular suites run these files too, with the installed NATS version
 * only.
 */
export default defineConfig({
  root: fileURLToPath(new URL('../../..', import.meta.url)),
  test: {
    include: [
      'services/acceptance/attacks/**/*.test.ts',
      'services/acceptance/{openapi-document,egress,guests,address-changes,secrets}.test.ts',
      'services/gateway/{server/allowed-hosts,request/client-address,server/cross-origin}.test.ts',
      'services/query/read-only/*.test.ts',
      'services/shared/bus/signatures.test.ts',
      'services/shared/telemetry/redact.test.ts',
      'web/tests/agents.e2e.ts',
    ],
    environment: 'node',
    expect: { requireAssertions: true, poll: { timeout: 30_000 } },
    experimental: { viteModuleRunner: false },
    maxWorkers: 1,
    testTimeout: 240_000,
    hookTimeout: 240_000,
    tags: [{ name: 'long', description: 'forms of attacks that take minutes' }],
  },
})
