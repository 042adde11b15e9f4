import { compareWithBaseline, selectComparableHours } from '../detection/baseline.ts'
import { defineDetector, emptyOutcome, createNoDataOutcome } from '../detection/detector.ts'
import { formatBytes } from '../format.ts'

const gibibyte = 1_024 ** 3
const minScore = 5
const ratios = { info: 1.4, warning: 1.8 }

/** Detects a peak memory usage that is unusual for this hour of the week. */
export const peakMemoryDetector = defineDetector({
  kind: 'peak-memory',
  signal: 'peak memory of one query',
  window: 'last hour, against the same hour of earlier weeks',
  sets: ['query-hours'],
  link: '/tables/expensive-queries-by-memory',
  detect({ 'query-hours': rows }) {
    if (rows.some(({ hoursAgo }) => hoursAgo < 0))
      return createNoDataOutcome('memory: the query log has entries from the future')
    const value = rows.find(({ hoursAgo }) => hoursAgo === 0)?.peakMemoryBytes
    const before = selectComparableHours(rows.filter(({ peakMemoryBytes }) => peakMemoryBytes !== null))
    if (!before) return createNoDataOutcome('memory: not enough history of this hour of the day or week')
    if (value === undefined) return emptyOutcome
    if (value === null) return createNoDataOutcome('memory: not reported by this host')
    const usual = compareWithBaseline(
      value,
      before.rows.flatMap(({ peakMemoryBytes }) => peakMemoryBytes ?? []),
      gibibyte / 10,
    )
    if (!usual || usual.score < minScore) return emptyOutcome
    if (value < usual.baseline * ratios.info || value - usual.baseline < gibibyte) return emptyOutcome
    return {
      notes: [],
      observations: [
        {
          subject: '',
          severity: value >= usual.baseline * ratios.warning ? 'warning' : 'info',
          title: `A query used ${formatBytes(value)} of memory`,
          detail: `The largest query of the hour used ${formatBytes(value)}; usual at this hour is ${formatBytes(usual.baseline)}.`,
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
