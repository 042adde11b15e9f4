import assert from 'node:assert/strict'
import { z } from 'zod'
import { insertBatch, readWatermarks, watermarkKey } from '../../query/history/watermarks.ts'
import type { HistoryStore } from '../../query/history/store.ts'
import { retryUntil } from '../../testing/fetch-json.ts'
import { type FaultCluster, startFaultCluster, serverNames } from '../cluster-faults/cluster.ts'
import { clusterGrants, createHistoryUser, failureOf } from './grants.ts'
import { openHistory, openInstallation } from './open-history.ts'
import type { Report } from './report.ts'

/** The hosts of the history. The cluster distributes them over its shards. */
const hosts = Array.from({ length: 12 }, (_, index) => `host-${index}`)
const beganSeconds = Math.floor(Date.now() / 1_000) - 3_600
const settings = { SVC_HISTORY_CLUSTER: 'fleet' }
const replicatedWithinMs = 30_000

/** Keeps the history on a cluster of two shards with two replicas and Keeper, and loses a replica. */
export const checkCluster = async (version: string, report: Report): Promise<void> => {
  await using cluster = await startFaultCluster(version)
  await using store = await openInstallation()
  const open = (url: string, more: Record<string, string> = {}) => openHistory(store, url, { ...settings, ...more })
  const named: Report = (name, check) => report(`${version}: ${name}`, check)
  await checkClusterGrants({ cluster, open, report: named })
  await checkRecording({ cluster, open, report: named })
  await checkMigration({ cluster, open, report: named })
}

interface ClusterCheck {
  cluster: FaultCluster
  /** Opens the store of the installation through a server, like a starting process. */
  open(url: string, more?: Record<string, string>): HistoryStore
  report: Report
}

const checkClusterGrants = async ({ cluster, open, report }: ClusterCheck): Promise<void> => {
  const servers = Object.values(cluster.servers)
  for (const dropped of clusterGrants.filter((grant) => grant.endsWith('*.*'))) {
    await report(`names the missing grant ${dropped}`, async () => {
      const grants = clusterGrants.filter((grant) => grant !== dropped)
      for (const { url } of servers) await createHistoryUser(url, grants)
      await using denied = open(cluster.servers.s1r1.url)
      const failure = await failureOf(denied.select('SELECT 1 AS one', z.unknown()))
      assert.match(failure, new RegExp(`the user "watchhouse" lacks the grant .*${dropped.split(' ')[0]}`))
      return failure
    })
  }
  for (const { url } of servers) await createHistoryUser(url, clusterGrants)
}

const checkRecording = async ({ cluster, open, report }: ClusterCheck): Promise<void> => {
  const { s1r1, s1r2, s2r1, s2r2 } = cluster.servers
  const servers = Object.values(cluster.servers)
  await using state = open(s1r1.url)

  await report(`creates replicated and distributed tables on every server`, async () => {
    assert.deepEqual(await state.select('SELECT 1 AS one', z.unknown()), [{ one: 1 }])
    for (const server of servers) {
      const rows = await server.query(
        `SELECT engine, count() AS tables FROM system.tables WHERE database = 'watchhouse' GROUP BY engine ORDER BY engine`,
      )
      assert.deepEqual(rows, [
        { engine: 'Distributed', tables: 6 },
        { engine: 'ReplicatedMergeTree', tables: 6 },
      ])
    }
  })
  await report(`distributes the hosts over the shards and reads them back`, async () => {
    await record(state, 0)
    await expectBatches(state, 1)
    await expectRowsOnBothShards(cluster)
  })
  await report(`stores a repeated batch once, through any replica`, async () => {
    for (const { url } of [s1r2, s2r1, s2r2]) {
      await using other = open(url)
      await record(other, 0)
    }
    await expectBatches(state, 1)
  })
  await report(`goes on without a replica`, async () => {
    await s1r2.kill()
    await record(state, 1)
    await expectBatches(state, 2)
  })
  await report(`starts without a replica`, async () => {
    await using restarted = open(s2r1.url)
    await record(restarted, 2)
    await expectBatches(restarted, 3)
  })
  await report(`the replica catches up, and still recognizes repeated batches`, async () => {
    await s1r2.restart()
    await using other = open(s1r2.url)
    await record(other, 2)
    await s1r2.run('SYSTEM SYNC REPLICA watchhouse.samples_local')
    await expectBatches(other, 3)
    const count = `SELECT count() AS rows FROM watchhouse.samples_local WHERE metric = 'm'`
    assert.deepEqual(await s1r2.query(count), await s1r1.query(count))
  })
}

const checkMigration = async ({ cluster, open, report }: ClusterCheck): Promise<void> => {
  const { s1r1, s2r2 } = cluster.servers
  await report(`migrates the tables on every server`, async () => {
    await s1r1.run(`ALTER TABLE watchhouse.samples_local ON CLUSTER fleet MODIFY TTL time + toIntervalDay(400)`)
    for (const table of ['samples', 'samples_local'])
      await s1r1.run(`ALTER TABLE watchhouse.${table} ON CLUSTER fleet DROP COLUMN IF EXISTS highest`)
    await s2r2.run('DROP TABLE watchhouse.log_lines SYNC')
    await using newer = open(s1r1.url, { SVC_HISTORY_RETENTION: '2d,20d,200d' })
    await record(newer, 3)
    for (const server of Object.values(cluster.servers)) {
      const [row] = await server.query(
        `SELECT countIf(name IN ('samples', 'samples_local') AND create_table_query LIKE '%highest%') AS columns,
  countIf(name = 'samples_local' AND create_table_query LIKE '%max(highest)%toIntervalDay(20)%' AND comment = 'retention 2d,20d,200d') AS rules, countIf(name = 'log_lines') AS lines
FROM system.tables WHERE database = 'watchhouse'`,
      )
      assert.deepEqual({ server: server.name, ...row }, { server: server.name, columns: 2, rules: 1, lines: 1 })
    }
  })
  await report(`refuses a second installation through any server`, async () => {
    await using stranger = await openInstallation()
    await using second = openHistory(stranger, s2r2.url, settings)
    await assert.rejects(second.select('SELECT 1 AS one', z.unknown()), /belongs to the installation "watchhouse-/)
  })
}

/** Inserts the batch with this number of each host. */
const record = async (history: HistoryStore, number: number): Promise<void> => {
  const from = beganSeconds + 60 * number
  const before = number === 0 ? undefined : { until: from, recordedMs: number }
  const row = { metric: 'm', time: from, sum: 1, count: 1, highest: 1 }
  const source = { name: 'metrics', table: 'samples' } as const
  const period = { from, until: from + 60 }
  for (const host of hosts)
    await insertBatch(history, { host, source, before, period, rows: [row], recordedMs: number + 1 })
}

const Batches = z.object({ host: z.string(), batches: z.number() })

/** Waits until each host has this number of batches, and its watermark is the end of the last one. */
const expectBatches = async (history: HistoryStore, count: number): Promise<void> => {
  const sql = `SELECT host, toUInt32(count()) AS batches FROM {table:samples} WHERE metric = 'm' GROUP BY host`
  const read = () => history.select(sql, Batches)
  const isComplete = (rows: z.output<typeof Batches>[]) =>
    rows.length === hosts.length && rows.every(({ batches }) => batches === count)
  await retryUntil(read, isComplete, replicatedWithinMs)
  const readEnds = async () => {
    const marks = await readWatermarks(history, hosts)
    return new Set(hosts.map((host) => marks.get(watermarkKey(host, 'metrics'))?.until))
  }
  const end = beganSeconds + 60 * count
  await retryUntil(readEnds, (ends) => ends.size === 1 && ends.has(end), replicatedWithinMs)
}

const expectRowsOnBothShards = async ({ servers }: FaultCluster): Promise<void> => {
  for (const name of serverNames) {
    const count = async () => (await servers[name].query('SELECT count() AS rows FROM watchhouse.samples_local'))[0]
    await retryUntil(count, (row) => Number(row?.rows) > 0, replicatedWithinMs)
  }
}
