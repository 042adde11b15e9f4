import { z } from 'zod'
import type { ServiceHandlers } from '#proto/contract.ts'
import {
  patternChangeKinds,
  type PatternChange,
  type PatternChangesRequest,
  type RangeStatistics,
} from '#proto/pattern-changes.ts'
import type { query } from '#proto/query.ts'
import { queryIfAvailable } from '../clickhouse/availability.ts'
import { toStatementFacts } from '../clickhouse/cost.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { expandMacros, type MacroScope } from '../definitions/macros.ts'
import { toResponseWindow, type ChartWindow } from '../definitions/window.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import { resolveAnalysisScope } from './analysis-window.ts'
import { endedQueryCondition } from './fingerprint-statement.ts'
import { hostNumberSchema, readRecords } from './read-records.ts'

/** Ratio from which a pattern counts as slower; its inverse counts as faster. */
const notableRatio = 1.25
/** Maximum characters of a pattern. */
const shownCharacters = 2_000

const measureColumns = { p95: 'P95Ms', average: 'AverageMs', total: 'TotalMs' } as const

/** SQL of the statistics of one range, whose rows match `condition`. */
const statisticsOf = (range: 'now' | 'before', condition: string): string => `
  countIf(${condition}) AS ${range}Calls,
  sumIf(query_duration_ms, ${condition}) AS ${range}TotalMs,
  ${range}TotalMs / greatest(${range}Calls, 1) AS ${range}AverageMs,
  ifNotFinite(quantileIf(0.95)(query_duration_ms, ${condition}), 0) AS ${range}P95Ms,
  countIf(${condition} AND log.type != 'QueryFinish') AS ${range}Errors`

/** Returns the statement that compares the patterns of two ranges. Rows in both ranges count in both. */
export const buildPatternChangesStatement = (
  { measure, search, user, own, limit }: PatternChangesRequest,
  scope: MacroScope,
  compared: Pick<ChartWindow, 'since' | 'until'>,
): Statement => {
  const earlier: MacroScope = { ...scope, window: { interval: undefined, ...compared } }
  const within = (range: MacroScope) => expandMacros('(log.event_time >= $since AND log.event_time < $until)', range)
  const [now, before] = [within(scope), within(earlier)]
  const column = measureColumns[measure]
  const counted = [
    `((${expandMacros('$window', scope)}) OR (${expandMacros('$window', earlier)}))`,
    endedQueryCondition,
    ...(user === undefined ? [] : ['user = {user:String}']),
    ...(own ? [] : ['NOT $own']),
  ]
  const sql = `SELECT *, count() OVER (PARTITION BY change) AS sameChange
FROM (
SELECT
  toString(normalized_query_hash) AS hash,
  substringUTF8(normalizeQuery(any(log.query)), 1, ${shownCharacters}) AS query,
  any(toString(query_kind)) AS kind,${statisticsOf('now', now)},${statisticsOf('before', before)},
  greatest(now${column}, 1) / greatest(before${column}, 1) AS ratio,
  multiIf(beforeCalls = 0, 'new', nowCalls = 0, 'vanished', ratio >= ${notableRatio}, 'slower', ratio <= ${1 / notableRatio}, 'faster', 'unchanged') AS change
FROM $log(query_log) AS log
WHERE ${counted.join(' AND ')}
GROUP BY normalized_query_hash
)${search === undefined ? '' : '\nWHERE positionCaseInsensitiveUTF8(query, {search:String}) > 0'}
ORDER BY change, multiIf(change = 'slower', -ratio, change = 'faster', ratio, change = 'new', -toFloat64(nowTotalMs), -toFloat64(beforeTotalMs)), hash
LIMIT ${limit} BY change`
  return {
    what: 'pattern-changes',
    cache: 'realtime',
    sql: expandMacros(sql, scope),
    parameters: { ...(user !== undefined && { user }), ...(search !== undefined && { search }) },
  }
}

/** A row of `buildPatternChangesStatement`. */
const ChangeRow = z.object({
  hash: z.string(),
  query: z.string(),
  kind: z.string(),
  nowCalls: hostNumberSchema,
  nowTotalMs: hostNumberSchema,
  nowAverageMs: z.number(),
  nowP95Ms: z.number(),
  nowErrors: hostNumberSchema,
  beforeCalls: hostNumberSchema,
  beforeTotalMs: hostNumberSchema,
  beforeAverageMs: z.number(),
  beforeP95Ms: z.number(),
  beforeErrors: hostNumberSchema,
  ratio: z.number(),
  change: z.enum(patternChangeKinds),
  sameChange: hostNumberSchema,
})
type ChangeRow = z.output<typeof ChangeRow>

const needs = { requires: ['system.query_log'] }

/** Returns the handler that compares the query patterns of two ranges of equal length. */
export const createPatternChangesHandler =
  (parts: QueryHandlerDeps): ServiceHandlers<typeof query>['patternChanges'] =>
  async (input, call) => {
    const host = parts.hosts.get(input.hostKey)
    const { window, scope } = await resolveAnalysisScope(parts, host, input, call)
    const shown = { ...window, interval: undefined }
    const compared = shiftBack(shown, (input.compareOffset ?? 0) * 1_000 || window.toMs - window.fromMs)
    const windows = { window: toResponseWindow(shown), compared: toResponseWindow(compared) }
    const { data, unavailable } = await queryIfAvailable(parts.client, host, needs, call, async () => {
      const statement = buildPatternChangesStatement(input, scope, compared)
      const answer = await parts.client.run(host, statement, call)
      const rows = readRecords(host, ChangeRow, answer)
      return { rows, statement: toStatementFacts(host, statement, answer, rows.length, scope.zone) }
    })
    const rows = data?.rows ?? []
    const countOf = (kind: PatternChange['change']) => rows.find(({ change }) => change === kind)?.sameChange ?? 0
    return {
      changes: patternChangeKinds
        .filter((kind) => kind !== 'unchanged')
        .flatMap((kind) => rows.filter(({ change }) => change === kind).map(toChange)),
      counts: {
        slower: countOf('slower'),
        faster: countOf('faster'),
        new: countOf('new'),
        vanished: countOf('vanished'),
        unchanged: countOf('unchanged'),
      },
      ...windows,
      unavailable,
      statement: data?.statement ?? null,
    }
  }

/** Returns a range of equal length that is earlier by an offset. */
const shiftBack = ({ fromMs, toMs }: ChartWindow, offsetMs: number): ChartWindow => {
  const [from, to] = [Math.floor((fromMs - offsetMs) / 1_000), Math.floor((toMs - offsetMs) / 1_000)]
  return {
    interval: undefined,
    since: `toDateTime(${Math.max(0, from)})`,
    until: `toDateTime(${Math.max(0, to)})`,
    fromMs: from * 1_000,
    toMs: to * 1_000,
    lastMinutes: null,
  }
}

const toChange = ({ hash, query, kind, change, ratio, ...row }: ChangeRow): PatternChange => ({
  hash,
  query,
  kind,
  change,
  ratio: row.nowCalls > 0 && row.beforeCalls > 0 ? ratio : null,
  now: statistics(row.nowCalls, row.nowTotalMs, row.nowAverageMs, row.nowP95Ms, row.nowErrors),
  before: statistics(row.beforeCalls, row.beforeTotalMs, row.beforeAverageMs, row.beforeP95Ms, row.beforeErrors),
})

const statistics = (
  calls: number,
  totalMs: number,
  averageMs: number,
  p95Ms: number,
  errors: number,
): RangeStatistics | null => (calls > 0 ? { calls, totalMs, averageMs, p95Ms, errors } : null)
