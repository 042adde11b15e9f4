import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { text } from 'node:stream/consumers'
import { HostLoad } from '#proto/host.ts'
import { reportAddress } from './report-address.ts'

// Serves many fake hosts in one process. They respond to each statement of a sweep after a fixed time; 1% hang and 1%
// refuse connections. Another server returns the addresses of the hosts and the number of rule statements.

const [count = '1000', delayMs = '20'] = process.argv.slice(2)
const version = '26.3.1.1'
const tables =
  `asynchronous_insert_log asynchronous_metrics backup_log clusters crash_log detached_parts dictionaries disks
  distributed_ddl_queue error_log errors events merge_tree_settings merges metric_log metrics mutations part_log parts processes
  query_log query_views_log replicas replication_queue server_settings tables text_log view_refreshes warnings zookeeper`.split(
    /\s+/,
  )
/** The load metrics that a host returns in addition to its identity. */
const figures = HostLoad.keyof().options.map(() => 0)
const counters = { rules: 0 }

const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const sql = await text(request)
  await wait(Number(delayMs))
  response.end(JSON.stringify({ meta: [], data: rowsOf(sql) }))
}

const rowsOf = (sql: string): unknown[][] => {
  if (sql.includes("getSetting('readonly')")) return [[version, 0, tables]]
  if (sql.includes('uptime()')) return [[version, 60, 'stub', 'UTC', String(Date.now()), ...figures]]
  counters.rules++
  // A combined statement returns one row per rule. The first column is the number of the rule.
  return [...sql.matchAll(/^SELECT (\d+), .*\nFROM \($/gm)].map(([, index]) => [Number(index), 0, null, null, null, []])
}

const listen = async (handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> => {
  const server = createServer({ keepAliveTimeout: 60_000 }, handle).listen(0, '127.0.0.1')
  await once(server, 'listening')
  // The address of a listening TCP server is always an object.
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}

const hang = (request: IncomingMessage): void => void request.resume()
const serve = (request: IncomingMessage, response: ServerResponse): void => {
  answer(request, response).catch(() => response.destroy())
}

/** An address on which nothing listens. */
const refusing = 'http://127.0.0.1:1'

const hosts = await Promise.all(
  Array.from({ length: Number(count) }, (_, host) => {
    if (host % 100 === 50) return refusing
    return listen(host % 100 === 99 ? hang : serve)
  }),
)
reportAddress(
  await listen((_request, response) => void response.end(JSON.stringify({ hosts, ruleStatements: counters.rules }))),
)
