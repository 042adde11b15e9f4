import type { InsightRow } from '#proto/insight-rows.ts'
import { compareWithBaseline, describeCauses } from '../detection/baseline.ts'
import { defineDetector, type DetectorRows, type Observation, createNoDataOutcome } from '../detection/detector.ts'
import { formatSeconds, formatNumber } from '../format.ts'

const minCalls = 20
const minDays = 3
const minMs = 200
const minScore = 5
const ratios = { info: 2, warning: 4 }

/** Detects query patterns that take longer than on earlier days, and describes concurrent changes. */
export const patternRegressionDetector = defineDetector({
  kind: 'pattern-regression',
  signal: '95th percentile of the duration of one query pattern',
  window: 'last day, against the seven days before',
  sets: ['fingerprint-days', 'schema-changes'],
  link: '/tables/slow-query-patterns',
  detect(rows) {
    const patterns = Map.groupBy(rows['fingerprint-days'], ({ hash }) => hash)
    if ([...patterns.values()].flat().some(({ daysAgo }) => daysAgo < 0)) {
      return createNoDataOutcome('regressions: the query log has entries from the future')
    }
    const short = [...patterns.values()].filter((days) => hasShortHistory(days)).length
    const notes = short > 0 ? [`regressions: not enough history for ${short} patterns (fewer than 3 earlier days)`] : []
    return { notes, observations: [...patterns.values()].flatMap((days) => createObservation(days, rows) ?? []) }
  },
})

type Day = InsightRow<'fingerprint-days'>

const hasEnoughCalls = ({ calls, p95Ms }: Day): boolean => calls >= minCalls && p95Ms !== null
const hasShortHistory = (days: readonly Day[]): boolean =>
  days.some((day) => day.daysAgo === 0 && hasEnoughCalls(day)) &&
  days.filter((day) => day.daysAgo > 0 && hasEnoughCalls(day)).length < minDays

const createObservation = (
  days: readonly Day[],
  rows: DetectorRows<'fingerprint-days' | 'schema-changes'>,
): Observation | undefined => {
  const now = days.find(({ daysAgo }) => daysAgo === 0)
  const before = days.filter((day) => day.daysAgo > 0 && hasEnoughCalls(day))
  if (!now || !hasEnoughCalls(now) || now.p95Ms === null || before.length < minDays) return undefined
  const usual = compareWithBaseline(
    now.p95Ms,
    before.flatMap(({ p95Ms }) => p95Ms ?? []),
    minMs / 10,
  )
  if (!usual || usual.score < minScore) return undefined
  if (now.p95Ms < ratios.info * usual.baseline || now.p95Ms - usual.baseline < minMs) return undefined
  const times = now.p95Ms / Math.max(1, usual.baseline)
  const causes = describeCauses(now, before, rows['schema-changes'])
  const why = causes.length > 0 ? `At the same time: ${causes.join(', ')}.` : 'No other change was found at that time.'
  return {
    subject: now.hash,
    severity: times >= ratios.warning ? 'warning' : 'info',
    title: `A ${now.kind || 'query'} pattern takes ${formatNumber(times)} times as long`,
    detail: `The 95th percentile of ${now.calls} executions was ${formatSeconds(now.p95Ms / 1_000)}; usual is ${formatSeconds(usual.baseline / 1_000)}. ${why}`,
    ...usual,
    value: now.p95Ms,
    unit: 'ms',
    confidence: before.length >= 6 ? 'high' : 'medium',
  }
}
