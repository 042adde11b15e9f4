import { z } from 'zod'
import { readRecordedMetrics } from '../../query/history/recorded-metrics.ts'
import { recordSlot } from '../../query/history/recorder.ts'
import { createSilentTelemetry, openTestService } from '../../query/testing/test-service.ts'

// Records the hosts of the environment without pause until it is killed. Without a common store, the lease of a killed
// process does not delay the next one, whose requests may therefore overtake those of the killed one.
const service = await openTestService(process.env)
await service.store.update('installation:id', z.string(), () => ({ value: 'watchhouse-0123456789abcdef' }))
const deps = { ...service, telemetry: createSilentTelemetry(), recorded: readRecordedMetrics() }
process.stdout.write('started\n')
for (;;) {
  // The history server is killed too, so a failure is expected.
  await recordSlot(deps, 0, service.hosts.list(), new AbortController().signal).catch(() => undefined)
  await new Promise((resolve) => setTimeout(resolve, 50))
}
