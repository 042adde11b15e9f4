import type { InsightRow } from '#proto/insight-rows.ts'
import { compare, attribute } from '../measures/baseline.ts'
import { detector, type RowsOf, type Sight, untold } from '../measures/detector.ts'
import { duration, figure } from '../measures/words.ts'

const leastCalls = 20
const leastDays = 3
const leastMs = 200
const leastScore = 5
const ratios = { info: 2, warning: 4 }

/** A pattern of statements takes longer than on earlier days; says what changed at the same time. */
export const patternRegression = detector({
  kind: 'pattern-regression',
  signal: '95th percentile of the time of one pattern',
  window: 'last day, against the seven days before',
  sets: ['fingerprint-days', 'schema-changes'],
  link: '/tables/slow-query-patterns',
  detect(rows) {
    const patterns = Map.groupBy(rows['fingerprint-days'], ({ hash }) => hash)
    if ([...patterns.values()].flat().some(({ daysAgo }) => daysAgo < 0)) {
      return untold('regressions: the log has entries of the future')
    }
    const short = [...patterns.values()].filter((days) => isShort(days)).length
    const notes = short > 0 ? [`regressions: not enough history of ${short} patterns, fewer than 3 earlier days`] : []
    return { notes, sights: [...patterns.values()].flatMap((days) => regression(days, rows) ?? []) }
  },
})

type Day = InsightRow<'fingerprint-days'>

const ran = ({ calls, p95Ms }: Day): boolean => calls >= leastCalls && p95Ms !== null
const isShort = (days: readonly Day[]): boolean =>
  days.some((day) => day.daysAgo === 0 && ran(day)) &&
  days.filter((day) => day.daysAgo > 0 && ran(day)).length < leastDays

const regression = (days: readonly Day[], rows: RowsOf<'fingerprint-days' | 'schema-changes'>): Sight | undefined => {
  const now = days.find(({ daysAgo }) => daysAgo === 0)
  const before = days.filter((day) => day.daysAgo > 0 && ran(day))
  if (!now || !ran(now) || now.p95Ms === null || before.length < leastDays) return undefined
  const usual = compare(
    now.p95Ms,
    before.flatMap(({ p95Ms }) => p95Ms ?? []),
    leastMs / 10,
  )
  if (!usual || usual.score < leastScore) return undefined
  if (now.p95Ms < ratios.info * usual.baseline || now.p95Ms - usual.baseline < leastMs) return undefined
  const times = now.p95Ms / Math.max(1, usual.baseline)
  const causes = attribute(now, before, rows['schema-changes'])
  const why =
    causes.length > 0
      ? `At the same time ${causes.join(', ')}.`
      : 'Nothing else is known to have changed at the same time.'
  return {
    subject: now.hash,
    severity: times >= ratios.warning ? 'warning' : 'info',
    title: `A ${now.kind || 'statement'} pattern takes ${figure(times)} times as long`,
    detail: `One in twenty of ${now.calls} executions took longer than ${duration(now.p95Ms / 1_000)}; usual is ${duration(usual.baseline / 1_000)}. ${why}`,
    ...usual,
    value: now.p95Ms,
    unit: 'ms',
    confidence: before.length >= 6 ? 'high' : 'medium',
  }
}
