import { randomUUID } from 'node:crypto'
import { type HostConnections, openHostConnections } from '../query/clickhouse/connections.ts'
import type { Statement, StreamFormat } from '../query/clickhouse/statement.ts'
import { validateHostList, type MonitoredHost } from '../query/hosts/host-list.ts'
import { startSandbox } from '../sandbox/start.ts'
import { type Benchmark, type Comparison, calculateQuantile } from './benchmark.ts'

const repetitions = 7
const measuredMs = 1_000
const concurrentStatements = 32
const rowsOfExport = 100_000
/** Minimum throughput as a share of the official client's. A slower pool should be replaced by the client. */
const minThroughputShare = 0.87

/** The statements of a chart, a table page and an export, for which users wait. */
const kinds: readonly { name: string; sql: string; format?: StreamFormat }[] = [
  {
    name: 'a chart',
    sql: `SELECT toStartOfHour(event_time) AS hour, count() AS queries FROM system.query_log
WHERE event_time > now() - INTERVAL 1 DAY GROUP BY hour ORDER BY hour WITH FILL STEP 3600`,
  },
  {
    name: 'a table page',
    sql: `SELECT query_id, user, type, event_time, query_duration_ms, read_rows, memory_usage, left(query, 500) AS query
FROM system.query_log WHERE event_time > now() - INTERVAL 1 DAY ORDER BY event_time DESC LIMIT 101`,
    format: 'JSONEachRow',
  },
  {
    name: 'a file',
    sql: `SELECT number AS id, toString(sipHash128(number)) AS query_id, number * 1000 AS duration,
  repeat('SELECT column FROM table ', 8) AS query, number % 17 / 3 AS share FROM numbers(${rowsOfExport})`,
    format: 'CSVWithNames',
  },
]

/** Compares the connection pool with `@clickhouse/client`, with the same statements on a real server. */
export const transportCost: Benchmark = {
  name: 'transport',
  async *run() {
    await using sandbox = await startSandbox({ seed: true })
    await sandbox.seeded
    const credentials = { user: 'watchhouse', password: 'watchhouse' }
    const [host] = validateHostList('COLUMNDB_HOST', [{ url: sandbox.url, label: 'bench', ...credentials }]).hosts
    if (!host) throw new Error(`the sandbox has an invalid URL: ${sandbox.url}`)
    await using connections = openHostConnections()
    for (const { name, sql, format } of kinds) {
      const senderOf = (hot: Pick<Statement, 'hot'>) =>
        createSender(connections, host, { what: 'bench', sql, ...hot }, format)
      const senders = { ours: senderOf({ hot: true }), reference: senderOf({}) }
      const alone = await measureInTurn(senders, 1)
      yield comparison(`${name}, one caller, p50`, 'ms', alone, ({ p50Ms }) => p50Ms, { atMost: minThroughputShare })
      const crowded = await measureInTurn(senders, concurrentStatements)
      const perSecond = ({ perSecond: rate }: Sending) => rate
      yield comparison(`${name}, ${concurrentStatements} callers, throughput`, '/s', crowded, perSecond, {
        atLeast: minThroughputShare,
      })
      const processorMs = ({ processorMs: spent }: Sending) => spent
      yield comparison(`${name}, CPU time of the client`, 'ms', crowded, processorMs, { atMost: minThroughputShare })
    }
  },
}

type Send = () => Promise<void>
type Each<T> = Record<'ours' | 'reference', T>

/** Returns a function that sends the statement and reads its response: streamed with a `format`, otherwise buffered. */
const createSender = (
  connections: HostConnections,
  host: MonitoredHost,
  statement: Statement,
  format?: StreamFormat,
): Send => {
  const pool = { size: concurrentStatements, idleMs: 60_000 }
  const carrying = { pool, signal: new AbortController().signal, onActivity: () => undefined, maxBytes: Infinity }
  const limits = { readonly: 0, maxExecutionSeconds: 60, background: false }
  const sending = { ...limits, format: format ?? ('JSONCompact' as const) }
  return async () => {
    const request = { statement, queryId: randomUUID(), sending }
    const { statusCode } = format
      ? await drain(connections, host, request, carrying)
      : await connections.buffer(host, request, carrying)
    if (statusCode !== 200) throw new Error(`statement failed: the server returned HTTP status ${statusCode}`)
  }
}

const drain = async (connections: HostConnections, ...begin: Parameters<HostConnections['stream']>) => {
  const { statusCode, body } = await connections.stream(...begin)
  while (await body.take());
  body.leave()
  return { statusCode }
}

interface Sending {
  p50Ms: number
  perSecond: number
  /** CPU time of this process per statement, in milliseconds. */
  processorMs: number
}

const measureInTurn = async (senders: Each<Send>, callers: number): Promise<Each<Sending[]>> => {
  const measured: Each<Sending[]> = { ours: [], reference: [] }
  for (let repetition = 0; repetition <= repetitions; repetition++) {
    for (const side of ['reference', 'ours'] as const) measured[side].push(await measure(senders[side], callers))
  }
  // The first run is a warm-up.
  return { ours: measured.ours.slice(1), reference: measured.reference.slice(1) }
}

const measure = async (send: Send, callers: number): Promise<Sending> => {
  const took: number[] = []
  const [used, started] = [process.cpuUsage(), performance.now()]
  const call = async (): Promise<void> => {
    while (performance.now() - started < measuredMs) {
      const before = performance.now()
      await send()
      took.push(performance.now() - before)
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
  const { user, system } = process.cpuUsage(used)
  return {
    p50Ms: calculateQuantile(took, 0.5),
    perSecond: took.length / ((performance.now() - started) / 1_000),
    processorMs: (user + system) / 1_000 / took.length,
  }
}

const comparison = (
  name: string,
  unit: string,
  { ours, reference }: Each<Sending[]>,
  figure: (sending: Sending) => number,
  bar: Comparison['bar'],
): Comparison => ({ name, unit, ours: ours.map(figure), reference: reference.map(figure), bar })
