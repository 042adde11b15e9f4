import type { Fault, RecordedRules } from '../fault.ts'

/** Faults for the rules in `charts/health`. */
export const healthFaults: readonly Fault[] = [
  {
    rule: 'host-unreachable',
    host: 's1r2',
    severity: 'critical',
    value: [2, 2],
    // No other rule has data while the server is down.
    alone: true,
    async produce({ servers: { s1r2 } }) {
      await s1r2.kill()
    },
    async recover({ servers: { s1r2 } }) {
      await s1r2.restart()
    },
  },
]

export const healthRecorded: RecordedRules = {
  'history-behind':
    'needs a history server, which this cluster does not have; `npm run test:history` kills one on a real server',
}
