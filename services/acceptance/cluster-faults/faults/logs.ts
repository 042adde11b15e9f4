import { setTimeout as wait } from 'node:timers/promises'
import { retryUntil } from '../../../testing/fetch-json.ts'
import type { Fault, RecordedRules } from '../fault.ts'
import { runInPast, truncateLogs } from '../past.ts'

/** Faults for the rules in `charts/logs`. */
export const logsFaults: readonly Fault[] = [
  {
    rule: 'fatal-log-entries',
    host: 's2r1',
    severity: 'warning',
    value: [1, 1],
    alone: true,
    async produce({ servers: { s2r1 } }) {
      await s2r1.signal('SIGSEGV')
      // The server logs the stack before it ends.
      await retryUntil(
        () =>
          s2r1.query('SELECT 1').then(
            () => true,
            () => false,
          ),
        (responds) => !responds,
        120_000,
      )
      await s2r1.restart()
    },
    async recover({ servers: { s2r1 } }) {
      await s2r1.run('TRUNCATE TABLE system.text_log', 'TRUNCATE TABLE IF EXISTS system.crash_log')
    },
  },
  {
    rule: 'new-error-code',
    host: 's1r2',
    severity: 'warning',
    value: [1, 1],
    alone: true,
    async prepare({ servers: { s1r2 } }) {
      // The rule requires a log that is older than a day, and other faults have caused errors within the hour.
      await s1r2.run('SYSTEM FLUSH LOGS', 'TRUNCATE TABLE system.error_log')
      await runInPast(s1r2, '-2d', async () => {
        await s1r2.fail('SELECT throwIf(1)')
        await wait(collectMs)
      })
    },
    async produce({ servers: { s1r2 } }) {
      await s1r2.fail('SELECT groupArray(number) FROM numbers(10000000) SETTINGS max_memory_usage = 1000000')
      await wait(collectMs)
      await s1r2.run('SYSTEM FLUSH LOGS')
    },
    async recover({ servers: { s1r2 } }) {
      await s1r2.run('TRUNCATE TABLE system.error_log')
    },
    async cleanUp({ servers: { s1r2 } }) {
      await truncateLogs(s1r2)
    },
  },
]

export const logsRecorded: RecordedRules = {}

/** Time until the server has collected new errors. */
const collectMs = 2_000
