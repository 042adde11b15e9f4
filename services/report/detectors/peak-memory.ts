import { compare, sameHours } from '../measures/baseline.ts'
import { detector, nothing, untold } from '../measures/detector.ts'
import { bytes } from '../measures/words.ts'

const gibibyte = 1_024 ** 3
const leastScore = 5
const ratios = { info: 1.4, warning: 1.8 }

/** A statement takes more memory than any at this hour of the week. */
export const peakMemory = detector({
  kind: 'peak-memory',
  signal: 'most memory of one statement',
  window: 'last hour, against the same hour of earlier weeks',
  sets: ['query-hours'],
  link: '/tables/expensive-queries-by-memory',
  detect({ 'query-hours': rows }) {
    if (rows.some(({ hoursAgo }) => hoursAgo < 0)) return untold('memory: the log has entries of the future')
    const value = rows.find(({ hoursAgo }) => hoursAgo === 0)?.peakMemoryBytes
    const before = sameHours(rows.filter(({ peakMemoryBytes }) => peakMemoryBytes !== null))
    if (!before) return untold('memory: not enough history of this hour of the day or week')
    if (value === undefined) return nothing
    if (value === null) return untold('memory: the host tells no number')
    const usual = compare(
      value,
      before.rows.flatMap(({ peakMemoryBytes }) => peakMemoryBytes ?? []),
      gibibyte / 10,
    )
    if (!usual || usual.score < leastScore) return nothing
    if (value < usual.baseline * ratios.info || value - usual.baseline < gibibyte) return nothing
    return {
      notes: [],
      sights: [
        {
          subject: '',
          severity: value >= usual.baseline * ratios.warning ? 'warning' : 'info',
          title: `A statement took ${bytes(value)} of memory`,
          detail: `The largest statement of the last hour took ${bytes(value)}; usual at this hour is ${bytes(usual.baseline)}.`,
          ...usual,
          value,
          unit: 'bytes',
          confidence: before.confidence,
          window: before.window,
        },
      ],
    }
  },
})
