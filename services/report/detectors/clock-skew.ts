import { defineDetector, emptyOutcome, createNoDataOutcome, getSeverity } from '../detection/detector.ts'
import { formatSeconds } from '../format.ts'

const limits = { info: 2, warning: 30 }

/** Detects hosts with a wrong clock. */
export const clockSkewDetector = defineDetector<never>({
  kind: 'clock-skew',
  signal: 'clock of the host compared with the service',
  window: 'now',
  sets: [],
  evidenceSql: 'SELECT now64(3)',
  link: '/overview',
  detect(_rows, { self: { clockSkewMs } }) {
    if (clockSkewMs === null || !Number.isFinite(clockSkewMs))
      return createNoDataOutcome('clock: not reported by this host')
    const seconds = Math.abs(clockSkewMs) / 1_000
    const severity = getSeverity(seconds, limits)
    if (severity === undefined) return emptyOutcome
    return {
      notes: [],
      observations: [
        {
          subject: '',
          severity,
          title: `The clock is ${formatSeconds(seconds)} ${clockSkewMs > 0 ? 'fast' : 'slow'}`,
          detail:
            'Its log times do not match those of other hosts, and Keeper sessions may expire. Check NTP on the host.',
          baseline: 0,
          value: clockSkewMs / 1_000,
          unit: 'seconds',
          score: null,
          confidence: 'high',
        },
      ],
    }
  },
})
