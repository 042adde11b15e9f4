import { compare, sameHours } from '../measures/baseline.ts'
import { detector, nothing, noData } from '../measures/detector.ts'
import { bytes } from '../measures/words.ts'

const gibibyte = 1_024 ** 3
const minScore = 5
const ratios = { info: 1.4, warning: 1.8 }

/** Detects a peak memory usage that is unusual for this hour of the week. */
export const peakMemory = detector({
  kind: 'peak-memory',
  signal: 'peak memory of one query',
  window: 'last hour, against the same hour of earlier weeks',
  sets: ['query-hours'],
  link: '/tables/expensive-queries-by-memory',
  detect({ 'query-hours': rows }) {
    if (rows.some(({ hoursAgo }) => hoursAgo < 0)) return noData('memory: the query log has entries from the future')
    const value = rows.find(({ hoursAgo }) => hoursAgo === 0)?.peakMemoryBytes
    const before = sameHours(rows.filter(({ peakMemoryBytes }) => peakMemoryBytes !== null))
    if (!before) return noData('memory: not enough history of this hour of the day or week')
    if (value === undefined) return nothing
    if (value === null) return noData('memory: not reported by this host')
    const usual = compare(
      value,
      before.rows.flatMap(({ peakMemoryBytes }) => peakMemoryBytes ?? []),
      gibibyte / 10,
    )
    if (!usual || usual.score < minScore) return nothing
    if (value < usual.baseline * ratios.info || value - usual.baseline < gibibyte) return nothing
    return {
      notes: [],
      observations: [
        {
          subject: '',
          severity: value >= usual.baseline * ratios.warning ? 'warning' : 'info',
          title: `A query used ${bytes(value)} of memory`,
          detail: `The largest query of the last hour used ${bytes(value)}; usual at this hour is ${bytes(usual.baseline)}.`,
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
