import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Configuration of `npm run test:faults`. The regular suites also run each `*.test.ts`, but shorter. */
export default defineConfig({
  root,
  test: {
    include: [
      'services/acceptance/faults/*.{test,check}.ts',
      'services/acceptance/{alert-backlog,delivery-kills,ingest-kills,outage,saved-channels,shutdown}.test.ts',
      'services/alert-dispatcher/channels/setting-sources.test.ts',
      'services/alert-dispatcher/delivery/clock-jumps.test.ts',
      'services/query/hosts/truncation-guard.test.ts',
      'services/shared/store/{restart,set-back-clock}.test.ts',
      'services/shared/store/sql/{failure,state-database}.test.ts',
    ],
    environment: 'node',
    tags: [{ name: 'long', description: 'what `npm test` leaves out; here everything runs' }],
    expect: { requireAssertions: true, poll: { timeout: 30_000 } },
    experimental: { viteModuleRunner: false },
    maxWorkers: 1,
    testTimeout: 300_000,
    hookTimeout: 240_000,
  },
})
