import { queryClickHouse } from './fetch-json.ts'

const hourMs = 3_600_000
/** Number of hours in two weeks. */
const hours = 336

/** A logged query of the generated history. */
export interface LoggedStatement {
  atMs: number
  pattern: number
  durationMs: number
  memoryBytes: number
  readBytes: number
  code: number
}

/** Generates two weeks of queries from a fixed pseudorandom sequence, so that every run has the same queries. */
export const generateQueryHistory = (beginsAtMs: number): LoggedStatement[] => {
  let state = 20_261_109
  const chance = (): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
  return Array.from({ length: hours * 12 }, (_, index) => {
    const hour = Math.floor(index / 12)
    const isSecond = hour >= hours / 2
    // In the second week, the fifth pattern is new, the third is slower and the fourth is faster.
    const pattern = 1 + (index % (isSecond ? 5 : 4))
    const slower = pattern === 3 && isSecond ? 4 : 1
    const faster = pattern === 4 && isSecond ? 5 : 1
    return {
      atMs: beginsAtMs + hour * hourMs + Math.floor(chance() * 3_600) * 1_000,
      pattern,
      durationMs: Math.round(((200 + 100 * pattern + 300 * chance()) * slower) / faster),
      memoryBytes: Math.round(1e8 + chance() * 1e9),
      readBytes: 1_000 * pattern,
      code: codeOf(chance(), isSecond),
    }
  })
}

const codeOf = (draw: number, isSecond: boolean): number => {
  if (draw < 0.02) return 60
  return isSecond && draw > 0.99 ? 241 : 0
}

const textOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 19).replace('T', ' ')
const withoutQueryLog = 'SETTINGS log_queries = 0'
const insert = (url: string, log: string, rows: readonly object[]) =>
  queryClickHouse(
    url,
    `INSERT INTO system.${log} ${withoutQueryLog} FORMAT JSONEachRow\n${rows.map((row) => JSON.stringify(row)).join('\n')}`,
  )

/** Returns the used space of a 1,000 GiB disk in GiB, in this hour of the history. It grows by 0.5 GiB per hour. */
export const computeUsedGibibytes = (hour: number): number => 500 + hour / 2

/** Replaces the logs of a host with the two weeks of history. */
export const replaceLogs = async (url: string, beginsAtMs: number, statements: readonly LoggedStatement[]) => {
  for (const log of ['query_log', 'part_log', 'asynchronous_metric_log']) {
    // Removes the TTL, because an embedded host keeps its logs for only a week.
    await queryClickHouse(url, `ALTER TABLE system.${log} REMOVE TTL ${withoutQueryLog}`)
    await queryClickHouse(url, `TRUNCATE TABLE system.${log} ${withoutQueryLog}`)
  }
  const queries = statements.map(({ atMs, pattern, durationMs, memoryBytes, readBytes, code }) => ({
    type: code === 0 ? 'QueryFinish' : 'ExceptionWhileProcessing',
    event_date: textOf(atMs).slice(0, 10),
    event_time: textOf(atMs),
    query_duration_ms: durationMs,
    memory_usage: memoryBytes,
    read_bytes: readBytes,
    query: `SELECT ${atMs} FROM shop.t${pattern}`,
    normalized_query_hash: pattern,
    query_kind: 'Select',
    is_initial_query: 1,
    exception_code: code,
  }))
  await insert(url, 'query_log', queries)
  const figures = Array.from({ length: hours }, (_, hour) => ({ hour, atMs: beginsAtMs + hour * hourMs + 60_000 }))
  const metrics = figures.flatMap(({ hour, atMs }) =>
    Object.entries({
      DiskUsed_data: computeUsedGibibytes(hour) * 1_024 ** 3,
      DiskTotal_data: 1_000 * 1_024 ** 3,
      MaxPartCountForPartition: hour === 200 ? 321 : 100 + (hour % 7),
      MemoryResident: hour === 250 ? 9e9 : 4e9,
      // The host restarted in the 300th hour.
      Uptime: hour < 300 ? 1e6 + hour * 3_600 : (hour - 300) * 3_600,
    }).map(([metric, value]) => ({ metric, value, event_date: textOf(atMs).slice(0, 10), event_time: textOf(atMs) })),
  )
  await insert(url, 'asynchronous_metric_log', metrics)
  const parts = figures.map(({ hour, atMs }) => ({
    event_type: 'NewPart',
    event_date: textOf(atMs).slice(0, 10),
    event_time: textOf(atMs),
    database: 'shop',
    table: 'orders',
    part_name: `all_${hour}`,
    rows: 10,
    size_in_bytes: hour < hours / 2 ? 1_000 : 3_000,
  }))
  await insert(url, 'part_log', parts)
}
