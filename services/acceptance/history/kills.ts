import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { setTimeout as wait } from 'node:timers/promises'
import { queryClickHouse } from '../../testing/fetch-json.ts'

const program = fileURLToPath(new URL('recorder-process.ts', import.meta.url))
const database = 'watchhouse'
const host = 'box'
/** Maximum time between the start of a recorder and its end. */
const maxLifeMs = 1_500
const caughtUpWithinMs = 240_000

/** What is killed, and how often. */
export interface KillPlan {
  hostUrl: string
  historyUrl: string
  kills: number
  /** Kills the history server and starts it again; called after every fifth kill of the recorder. */
  restartHistory?(): Promise<void>
  random?(): number
}

/** The differences between the logs of a host and its history; all are 0 if nothing was lost or duplicated. */
export interface HistoryDifferences {
  batches: number
  gaps: number
  overlaps: number
  seconds: number
  calls: number
  recordedCalls: number
}

/** Kills the recorder at random times, lets it catch up, and compares the history with the logs of the host. */
export const recordWithKills = async (plan: KillPlan): Promise<HistoryDifferences> => {
  const { random = Math.random } = plan
  for (let kill = 1; kill <= plan.kills; kill++) {
    const child = await startRecorder(plan)
    await wait(random() * maxLifeMs)
    await kill9(child)
    if (kill % 5 === 0) await plan.restartHistory?.()
  }
  const last = await startRecorder(plan)
  try {
    await waitUntilCaughtUp(plan)
  } finally {
    await kill9(last)
  }
  return compareHost({ ...plan, host })
}

const startRecorder = async ({ hostUrl, historyUrl }: KillPlan): Promise<ChildProcess> => {
  const env = { COLUMNDB_HOST: hostUrl, COLUMNDB_NAME: host, SVC_HISTORY_URL: historyUrl }
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return child
}

const kill9 = async (child: ChildProcess): Promise<void> => {
  const ended = once(child, 'close')
  child.kill('SIGKILL')
  await ended
}

const waitUntilCaughtUp = ({ hostUrl, historyUrl }: KillPlan): Promise<void> =>
  waitUntilRecorded({ hostUrl, historyUrl, host })

/** A host and its history. */
export interface RecordedHost {
  hostUrl: string
  historyUrl: string
  host: string
}

/** Waits until a host is recorded up to now. */
export const waitUntilRecorded = async ({ hostUrl, historyUrl, host }: RecordedHost): Promise<void> => {
  const [now] = await queryClickHouse(hostUrl, 'SELECT toUnixTimestamp(now()) AS now')
  const limit = performance.now() + caughtUpWithinMs
  while (performance.now() < limit) {
    const marks = await readMarks(historyUrl, host).catch(() => [])
    if (marks.length > 1 && marks.every(({ until }) => until > Number(now?.now))) return
    await wait(500)
  }
  throw new Error(`the recorder did not catch up with the host ${host}`)
}

interface Mark {
  source: string
  from: number
  until: number
  batches: number
  gaps: number
  overlaps: number
}

/** Reads the batches of each source. A batch begins where the one before it ended. */
const readMarks = async (url: string, host: string): Promise<Mark[]> => {
  const of = (source: string, table: string, condition: string) =>
    `SELECT '${source}' AS source, toUnixTimestamp(min(time)) AS from, toUnixTimestamp(max(until)) AS until, count() AS batches,
  countIf(earlier > 0 AND begin > earlier) AS gaps, countIf(begin < earlier) AS overlaps
FROM (SELECT time, until, toUnixTimestamp(time) AS begin, lagInFrame(toUnixTimestamp(until)) OVER (ORDER BY recorded_ms) AS earlier FROM ${database}.${table} WHERE host = '${host}' AND ${condition})`
  const rows = await queryClickHouse(
    url,
    [
      of('metrics', 'samples', "metric = '' AND label = 'metrics'"),
      of('queries', 'query_patterns', "hash = 0 AND kind = ''"),
    ].join(' UNION ALL '),
  )
  return rows.map((row) => ({
    source: String(row.source),
    from: Number(row.from),
    until: Number(row.until),
    batches: Number(row.batches),
    gaps: Number(row.gaps),
    overlaps: Number(row.overlaps),
  }))
}

/** Compares the history of a host with its logs. */
export const compareHost = async ({ hostUrl, historyUrl, host }: RecordedHost): Promise<HistoryDifferences> => {
  const marks = await readMarks(historyUrl, host)
  const read = async (url: string, sql: string) => Number((await queryClickHouse(url, sql))[0]?.value)
  const logged = (source: string, log: string, condition: string) => {
    const { from = 0, until = 0 } = marks.find((mark) => mark.source === source) ?? {}
    return read(
      hostUrl,
      `SELECT count() AS value FROM system.${log} WHERE event_time >= toDateTime(${from}) AND event_time < toDateTime(${until}) AND ${condition}`,
    )
  }
  const users = `type != 'QueryStart' AND is_initial_query AND NOT (startsWith(log_comment, '{"watchhouse":"') OR http_user_agent = 'watchhouse')`
  const recordedCalls = await read(
    historyUrl,
    `SELECT sum(calls) AS value FROM ${database}.query_patterns WHERE host = '${host}'`,
  )
  const seconds = `SELECT sum(count) AS value FROM ${database}.samples WHERE host = '${host}' AND metric = 'CurrentMetric_MemoryTracking'`
  const total = (name: 'batches' | 'gaps' | 'overlaps') => marks.reduce((sum, mark) => sum + mark[name], 0)
  return {
    batches: total('batches'),
    gaps: total('gaps'),
    overlaps: total('overlaps'),
    seconds: (await read(historyUrl, seconds)) - (await logged('metrics', 'metric_log', '1')),
    calls: recordedCalls - (await logged('queries', 'query_log', users)),
    recordedCalls,
  }
}
