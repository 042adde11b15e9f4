import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { type ClusterServer, type FaultCluster, serverNames } from '../cluster.ts'
import type { Fault, RecordedRules } from '../fault.ts'
import { runInPast, truncateLogs } from '../past.ts'

/**
 * Faults for the rules in `charts/queries`. All long queries run on one server, because `longest-query` has a low
 * threshold.
 */
export const queriesFaults: readonly Fault[] = [
  {
    rule: 'query-fail-rate',
    host: 's1r1',
    severity: 'critical',
    value: [40, 51],
    prepare: truncateQueryLogs,
    async produce({ servers: { s1r1 } }) {
      for (let run = 0; run < 75; run++) {
        await s1r1.fail('SELECT * FROM fault_query_fail_rate.missing')
        await s1r1.fail('SELECT throwIf(number = 1) FROM numbers(2)')
        await s1r1.run('SELECT 1', 'SELECT 2')
      }
      await s1r1.run('SYSTEM FLUSH LOGS')
    },
    async recover({ servers: { s1r1 } }) {
      await s1r1.run('TRUNCATE TABLE system.query_log')
    },
  },
  {
    rule: 'query-timeout',
    host: 's1r1',
    severity: 'warning',
    value: [3, 3],
    prepare: truncateQueryLogs,
    async produce({ servers: { s1r1 } }) {
      for (let run = 0; run < 3; run++)
        await s1r1.fail(
          'SELECT sum(sleepEachRow(0.1)) FROM numbers(100) SETTINGS max_execution_time = 1, max_block_size = 1',
        )
      await s1r1.run('SYSTEM FLUSH LOGS')
    },
    async recover({ servers: { s1r1 } }) {
      await s1r1.run('TRUNCATE TABLE system.query_log')
    },
  },
  {
    rule: 'memory-limit-errors',
    host: 's1r2',
    severity: 'warning',
    value: [6, 6],
    async produce({ servers: { s1r2 } }) {
      for (let run = 0; run < 6; run++)
        // Without a log, so that `query-fail-rate` fires on one server only.
        await s1r2.fail(
          'SELECT groupArray(number) FROM numbers(10000000) SETTINGS max_memory_usage = 1000000, max_threads = 1, log_queries = 0',
        )
    },
    recover: async () => {},
  },
  {
    rule: 'longest-query',
    host: 's2r2',
    severity: 'warning',
    value: [5, 60],
    thresholds: { warning: 5 },
    visibleAfterMs: 6_000,
    async produce({ servers: { s2r2 } }) {
      startQuery(s2r2, 'longest-query', sleepingQuery)
      await wait(500)
    },
    async recover({ servers: { s2r2 } }) {
      await killQueries(s2r2, 'longest-query')
    },
  },
  {
    rule: 'queries-preempted',
    host: 's2r2',
    severity: 'warning',
    value: [2, 2],
    async produce({ servers: { s2r2 } }) {
      startQuery(s2r2, 'queries-preempted', sleepingQuery, 'priority = 1')
      for (let run = 0; run < 2; run++)
        startQuery(s2r2, 'queries-preempted', 'SELECT sum(number) FROM numbers(1000000000000)', 'priority = 2')
      await wait(500)
    },
    async recover({ servers: { s2r2 } }) {
      await killQueries(s2r2, 'queries-preempted')
    },
  },
  {
    rule: 'running-queries',
    host: 's2r2',
    severity: 'warning',
    value: [85, 95],
    async produce({ servers: { s2r2 } }) {
      for (let run = 0; run < 85; run++) startQuery(s2r2, 'running-queries', sleepingQuery)
      await wait(500)
    },
    async recover({ servers: { s2r2 } }) {
      await killQueries(s2r2, 'running-queries')
    },
  },
  {
    rule: 'stuck-query-cancel',
    host: 's2r2',
    severity: 'warning',
    value: [5, 150],
    thresholds: { warning: 5 },
    visibleAfterMs: 6_000,
    async produce({ servers: { s2r2 } }) {
      await once(silentEndpoint.listen(0, '127.0.0.1'), 'listening')
      const { port } = silentEndpoint.address() as AddressInfo // a TCP server has this type of address
      startQuery(
        s2r2,
        'stuck-query-cancel',
        `SELECT * FROM url('http://127.0.0.1:${port}/', 'LineAsString', 'line String')`,
        'http_receive_timeout = 300, http_max_tries = 1',
      )
      await wait(1_000)
      // Without SYNC, which would wait for the query.
      await s2r2.run("KILL QUERY WHERE query LIKE '%fault: stuck-query-cancel%' AND query NOT LIKE 'KILL%' ASYNC")
    },
    async recover() {
      silentEndpoint.closeAllConnections()
      await once(silentEndpoint.close(), 'close')
    },
  },
  {
    rule: 'query-p95-regression',
    host: 's1r2',
    severity: 'critical',
    value: [10, 400],
    alone: true,
    async prepare({ servers: { s1r2 } }) {
      // With an earlier clock, the server does not sleep.
      await runInPast(s1r2, '-3h', () => runOften(s1r2, 'SELECT sleep(0.3)'))
    },
    async produce({ servers: { s1r2 } }) {
      await runOften(s1r2, 'SELECT sleep(0.3)')
      await s1r2.run('SYSTEM FLUSH LOGS')
    },
    async recover({ servers: { s1r2 } }) {
      await s1r2.run('TRUNCATE TABLE system.query_log')
    },
    async cleanUp({ servers: { s1r2 } }) {
      await truncateLogs(s1r2)
    },
  },
]

export const queriesRecorded: RecordedRules = {}

/** Deletes the failed queries of earlier faults, which are still within the windows of the rules. */
async function truncateQueryLogs({ servers }: FaultCluster): Promise<void> {
  for (const name of serverNames) await servers[name].run('SYSTEM FLUSH LOGS', 'TRUNCATE TABLE system.query_log')
}

const sleepingQuery = 'SELECT sum(sleepEachRow(1)) FROM numbers(10000)'

/** Starts a query that runs until `killQueries`. */
const startQuery = (server: ClusterServer, rule: string, sql: string, settings = 'max_threads = 1'): void => {
  // Killed queries end with an error.
  server.query(`${sql} SETTINGS max_block_size = 1, ${settings}, log_comment = 'fault: ${rule}'`).catch(() => undefined)
}

const killQueries = (server: ClusterServer, rule: string): Promise<void> =>
  server.run(`KILL QUERY WHERE query LIKE '%fault: ${rule}%' AND query NOT LIKE 'KILL%' SYNC`)

/** Accepts requests and never responds. */
const silentEndpoint = createServer(() => {})

/** Runs a query as often as `query-p95-regression` requires. */
const runOften = async (server: ClusterServer, sql: string): Promise<void> => {
  for (let run = 0; run < 25; run++) await server.run(sql)
}
