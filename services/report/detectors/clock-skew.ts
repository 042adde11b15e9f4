import { detector, nothing, untold, severityOf } from '../measures/detector.ts'
import { duration } from '../measures/words.ts'

const limits = { info: 2, warning: 30 }

/** The clock of a host is off. */
export const clockSkew = detector<never>({
  kind: 'clock-skew',
  signal: 'clock of the host against ours',
  window: 'now',
  sets: [],
  evidenceSql: 'SELECT now64(3)',
  link: '/overview',
  detect(_rows, { self: { clockSkewMs } }) {
    if (clockSkewMs === null || !Number.isFinite(clockSkewMs)) return untold('clock: it is not known how far it is off')
    const seconds = Math.abs(clockSkewMs) / 1_000
    const severity = severityOf(seconds, limits)
    if (severity === undefined) return nothing
    return {
      notes: [],
      sights: [
        {
          subject: '',
          severity,
          title: `The clock is ${duration(seconds)} ${clockSkewMs > 0 ? 'fast' : 'slow'}`,
          detail:
            'Times of its logs do not fit those of other hosts, and sessions with Keeper may break; check its time service.',
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
