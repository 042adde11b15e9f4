import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { listenOnLoopback } from '#shared/net/testing/loopback-server.ts'

/** A proxy in front of a host that replaces system tables. */
export interface FakeTablesHost extends AsyncDisposable {
  url: string
}

/** Headers that are not forwarded: hop-by-hop headers, and the content encoding, which `fetch` has already decoded. */
const connectionHeaders = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'content-encoding'])

/**
 * Starts a proxy that replaces these tables of `system` in every statement by tables of the database `invented`. Tests
 * use it for data that an embedded host lacks, such as replicas.
 */
export const startFakeTablesHost = async (url: string, tables: readonly string[]): Promise<FakeTablesHost> => {
  const invented = new RegExp(String.raw`\bsystem\.(${tables.join('|')})\b`, 'g')
  const server = createServer(async (request, response) => {
    try {
      const body = (await text(request)).replaceAll(invented, 'invented.$1')
      const headers = Object.entries(request.headers).filter(([name]) => !connectionHeaders.has(name))
      const answer = await fetch(`${url}${request.url}`, {
        method: request.method ?? 'POST',
        headers: headers.map(([name, value]): [string, string] => [name, String(value)]),
        ...(body !== '' && { body }),
      })
      const headersToSend = [...answer.headers].filter(([name]) => !connectionHeaders.has(name))
      response.writeHead(answer.status, Object.fromEntries(headersToSend)).end(Buffer.from(await answer.arrayBuffer()))
    } catch {
      response.destroy()
    }
  })
  const { origin, stop } = await listenOnLoopback(server)
  return {
    url: origin,
    [Symbol.asyncDispose]: stop,
  }
}

/** Statements that create fake replicas: one without a Keeper session, one that lags, and a healthy one. */
export const fakeReplicaStatements: readonly string[] = [
  'CREATE DATABASE IF NOT EXISTS invented',
  'CREATE TABLE invented.replicas ENGINE = Memory AS SELECT * FROM system.replicas WHERE 0',
  'CREATE TABLE invented.replication_queue ENGINE = Memory AS SELECT * FROM system.replication_queue WHERE 0',
  `INSERT INTO invented.replicas (database, table, replica_name, is_readonly, is_session_expired, absolute_delay, queue_size, zookeeper_exception) VALUES
    ('shop', 'lost', 'a', 1, 1, 0, 0, 'Session expired'), ('shop', 'late', 'a', 0, 0, 400, 50, ''), ('shop', 'well', 'a', 0, 0, 0, 0, '')`,
  `INSERT INTO invented.replication_queue (database, table, type, new_part_name, create_time, num_tries, last_exception) VALUES
    ('shop', 'late', 'GET_PART', 'all_1_1_0', now() - 90, 7, 'No active replica has part all_1_1_0')`,
]

/** The value of `normalizedQueryHash('SELECT 1')`, which is the same in every ClickHouse version. */
export const selectOneHash = '15722048748544463130'

/** Statements that create a fake running query, which started more than an hour ago. */
export const fakeProcessStatements: readonly string[] = [
  'CREATE DATABASE IF NOT EXISTS invented',
  'CREATE TABLE invented.processes ENGINE = Memory AS SELECT * FROM system.processes WHERE 0',
  `INSERT INTO invented.processes (is_initial_query, user, query_id, elapsed, query, query_kind) VALUES
    (1, 'reports', 'endless', 4000, 'SELECT 1', 'Select')`,
]
