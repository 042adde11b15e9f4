import type { CallContext } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { type InsightRowSet, insightRowSets } from '#proto/insight-rows.ts'
import { expandMacros } from '../definitions/macros.ts'
import { logRowSets } from '../insights/row-sets.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { findHistorySql } from './history-sql.ts'
import { findLogStartMs } from './log-start.ts'
import { buildRecordedLogs } from './recorded-logs.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** The row sets by age whose earlier rows are in the history. */
type RecordedRowSet = 'query-hours' | 'disk-hours' | 'fingerprint-days'

interface RecordedSet {
  /** The length of a unit of age, and the number of units that the set covers. */
  unitMs: number
  units: number
  /** The SQL, if it cannot be derived from that of the set. */
  history?: string
}

const recordedSets: Readonly<Record<RecordedRowSet, RecordedSet>> = {
  'query-hours': { unitMs: hourMs, units: 30 * 24 },
  'disk-hours': { unitMs: hourMs, units: 14 * 24 },
  'fingerprint-days': {
    unitMs: dayMs,
    units: 8,
    history: `SELECT toString(recorded.hash) AS hash,
  toInt32(intDiv(toUnixTimestamp(now()) - toUnixTimestamp(event_time), 86400)) AS daysAgo,
  any(recorded.kind) AS kind,
  sum(recorded.calls) AS calls,
  sum(duration_ms) AS totalMs,
  exp2(quantileExactWeightedArrayOrNull(0.95)(mapKeys(durations), mapValues(durations)) / 8) - 1 AS p95Ms,
  sum(rows_read) / nullIf(sum(recorded.calls), 0) AS readRows,
  NULL AS selectedParts,
  NULL AS marksShare,
  0 AS revision,
  '' AS settingsHash,
  groupUniqArrayArray(20)(recorded.tables) AS tables,
  0 AS dayTotalMs,
  0 AS historyHours
FROM $log(query_patterns) AS recorded
WHERE daysAgo BETWEEN 1 AND 7 AND has({hashes:Array(String)}, hash)
GROUP BY recorded.hash, daysAgo
ORDER BY hash, daysAgo`,
  },
}

const isRecordedSet = (set: InsightRowSet): set is RecordedRowSet => Object.hasOwn(recordedSets, set)

type Row = Record<string, unknown>

interface InsightRequest {
  parts: QueryHandlerDeps
  host: MonitoredHost
  call: CallContext
}

/** Adds the rows of the hours and days that the log of the host no longer contains, so that baselines are longer. */
export const addInsightHistory = async (request: InsightRequest, set: InsightRowSet, rows: Row[]): Promise<Row[]> => {
  const { parts, host } = request
  if (!parts.history.isEnabled || host.connect !== undefined || !isRecordedSet(set)) return rows
  const { unitMs, units } = recordedSets[set]
  const source = findSetSql(set)
  const startMs = source && (await findLogStartMs(request, source.log))
  if (!source || startMs === undefined) return rows
  // The oldest hour or day of a log is incomplete.
  const complete = Math.floor((parts.clock.now() + parts.probe.skewMs(host.key) - startMs) / unitMs)
  if (complete >= units) return rows
  const known = rows.filter((row) => ageOf(row) < complete)
  try {
    const earlier = await readEarlier(request, set, source.sql, known)
    return [...known, ...earlier.filter((row) => ageOf(row) >= complete)]
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return rows
  }
}

const findSetSql = (set: RecordedRowSet) => {
  const { history } = recordedSets[set]
  return findHistorySql({ sql: logRowSets[set].sql, parameters: [], columns: [], ...(history && { history }) }, {})
}

const ageOf = ({ hoursAgo, daysAgo }: Row): number => Number(hoursAgo ?? daysAgo)

const readEarlier = async (
  { parts, host }: InsightRequest,
  set: RecordedRowSet,
  sql: string,
  known: readonly Row[],
): Promise<Row[]> => {
  const { unitMs, units } = recordedSets[set]
  const until = Math.ceil(parts.clock.now() / 1_000)
  const window = { since: `toDateTime(${until - (units * unitMs) / 1_000})`, until: `toDateTime(${until})` }
  const logs = buildRecordedLogs(sql, host, window)
  const statement = expandMacros(sql, { window: undefined, zone: undefined, logs })
  const latest = new Map(known.filter(({ daysAgo }) => daysAgo === 0).map((row) => [row.hash, row]))
  const rows: Row[] = await parts.history.select(statement, insightRowSets[set], { hashes: [...latest.keys()] })
  return rows.map((row) => withLatestFacts(row, latest.get(row.hash)))
}

/** The history lacks the version and settings of queries. Those of today are used, so that no change is reported. */
const withLatestFacts = (row: Row, latest: Row | undefined): Row => {
  if (!latest) return row
  const { revision, settingsHash, dayTotalMs, historyHours } = latest
  return { ...row, revision, settingsHash, dayTotalMs, historyHours }
}
