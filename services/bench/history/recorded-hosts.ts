import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { HostLoad } from '#proto/host.ts'
import { readRecordedMetrics } from '../../query/history/recorded-metrics.ts'
import { listenOnLoopback } from '#shared/net/testing/loopback-server.ts'
import { reportAddress } from '../report-address.ts'

// Serves many fake hosts in one process. They answer the statements of the recorder with as many rows as a busy host.

const count = Number(process.argv[2] ?? 1_000)
const version = '25.8.2.1'
const tables =
  `asynchronous_metric_log asynchronous_metrics clusters columns databases disks error_log errors events metric_log metrics
  part_log parts processes query_log server_settings settings tables text_log zookeeper`.split(/\s+/)
const figures = HostLoad.keyof().options.map(() => 0)
const { columns, asynchronous } = readRecordedMetrics()
const columnNames = columns.map((name) => name.replace('*', 'All'))
const asynchronousNames = asynchronous.map((name) => name.replace('*', '0'))
/** Fingerprints of a minute: 10,000 fingerprint-minutes a day. */
const patterns = 7
const nowSeconds = (): number => Math.floor(Date.now() / 1_000)

type Rows = unknown[][]

/** Returns the minutes of the period in the statement. */
const minutesOf = (sql: string): number[] => {
  const [from = 0, until = 0] = [...sql.matchAll(/toDateTime\((\d+)\)/g)].map(([, seconds]) => Number(seconds))
  const first = Math.floor(from / 60)
  return Array.from({ length: Math.max(0, Math.ceil(until / 60) - first) }, (_, index) => (first + index) * 60)
}

const noise = (seed: number): number => (seed * 2_654_435_761) % 100_003

const answers: Readonly<Record<string, (sql: string) => Rows>> = {
  clock: () => [[nowSeconds(), nowSeconds() - 2, nowSeconds() - 2, nowSeconds() - 2]],
  'log-start': () => [[nowSeconds() - 150]],
  columns: () => columnNames.map((name) => [name]),
  'metric-log': (sql) =>
    minutesOf(sql).map((minute) => {
      const values = columnNames.map((_, index) => noise(minute + index))
      return [minute, 60, values, values]
    }),
  'asynchronous-metric-log': (sql) =>
    minutesOf(sql).flatMap((minute) =>
      asynchronousNames.map((name, index) => [minute, name, noise(minute + index), 60, noise(minute)]),
    ),
  'part-log': (sql) =>
    minutesOf(sql).flatMap((minute) =>
      ['NewPart', 'MergeParts', 'RemovePart'].map((event) => {
        const [rows, bytes, ms] = [noise(minute), 1_000_000, 500]
        return [minute, event, 'shop.orders', 10, rows, rows, bytes, bytes, ms, ms, 0]
      }),
    ),
  errors: (sql) => minutesOf(sql).map((minute) => [minute, 'UNKNOWN_TABLE', 1, 1]),
  'query-log': (sql) =>
    minutesOf(sql).flatMap((minute) =>
      Array.from({ length: patterns }, (_, index) => {
        const map = [
          [40, 56, 61],
          ['100', '12', '3'],
        ]
        const numbers = Array.from({ length: 10 }, (_unused, column) => String(noise(minute + column)))
        const pattern = `SELECT sum(amount) FROM shop.orders_${index} WHERE customer_id = ? GROUP BY region`
        const hash = String(noise(index + 1) * 1_000_003)
        return [
          minute,
          hash,
          'Select',
          pattern,
          ...numbers,
          ['shop'],
          [`shop.orders_${index}`],
          map,
          map,
          map,
          map,
          map,
        ]
      }),
    ),
  'text-log': () => [],
  'table-sizes': () => Array.from({ length: 20 }, (_, index) => [`shop.orders_${index}`, 1_000_000, 1_000, 10]),
  objects: (sql) => (sql.includes('cityHash64') ? [[nowSeconds(), '42']] : []),
}

const rowsOf = (sql: string, url: string): Rows => {
  const [, what] = /"watchhouse":"history\/([\w-]+)"/.exec(decodeURIComponent(url)) ?? []
  const answer = what === undefined ? undefined : answers[what]
  if (answer) return answer(sql)
  if (sql.includes("getSetting('readonly')")) return [[version, 0, tables]]
  if (sql.includes('uptime()')) return [[version, 60, 'stub', 'UTC', String(Date.now()), ...figures]]
  return sql.startsWith('CHECK GRANT') ? [[1]] : []
}

const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const sql = await text(request)
  response.end(JSON.stringify({ meta: [], data: rowsOf(sql, request.url ?? '') }))
}

const listen = async (answer: typeof serve): Promise<string> => {
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  return (await listenOnLoopback(server)).origin
}

const hosts = await Promise.all(Array.from({ length: count }, () => listen(serve)))
reportAddress(await listen(async (_request, response) => void response.end(JSON.stringify({ hosts }))))
