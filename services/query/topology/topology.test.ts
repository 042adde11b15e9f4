import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { query } from '#proto/query.ts'
import { curl } from '../../sandbox/curl.ts'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { readRecords } from '../analysis/read-records.ts'
import { createCall, openTestService, type TestService } from '../testing/test-service.ts'
import { startHttpStub, startTcpStub } from '../testing/stub-host.ts'
import { ClusterRow, buildClustersStatement, ReplicationRow, replicationStatement } from './topology.ts'

const replica = { internal_replication: 1, shard_weight: 1, port: 9000 }
/** Synthetic rows with the columns of the engine, because a single host has no clusters or replicas. */
const synthetic = {
  clusters: [
    {
      ...replica,
      cluster: 'shop',
      shard_num: 2,
      replica_num: 1,
      host_name: 'c',
      host_address: '10.0.0.3',
      is_active: 0,
    },
    { ...replica, cluster: 'shop', shard_num: 1, replica_num: 2, host_name: 'b', errors_count: 3, slowdowns_count: 2 },
    { ...replica, cluster: 'shop', shard_num: 1, replica_num: 1, host_name: 'a', is_local: 1, replication_lag: 7 },
    { ...replica, cluster: 'lone', shard_num: 1, replica_num: 1, host_name: 'a', is_local: 1 },
  ],
  replicas: [
    { table: 'late', absolute_delay: 400, queue_size: 50, lost_part_count: 1 },
    { table: 'lost', is_readonly: 1, is_session_expired: 1, last_queue_update_exception: 'no Keeper' },
  ],
}

let sandbox: Sandbox
let parts: TestService

beforeAll(async () => {
  sandbox = await startSandbox()
  await run('CREATE DATABASE synthetic')
  for (const [table, rows] of Object.entries(synthetic)) {
    await run(`CREATE TABLE synthetic.${table} AS system.${table} ENGINE = MergeTree ORDER BY tuple()`)
    await run(`INSERT INTO synthetic.${table} FORMAT JSONEachRow ${rows.map((row) => JSON.stringify(row)).join('\n')}`)
  }
  parts = await openTestService({ COLUMNDB_HOST: sandbox.url, COLUMNDB_NAME: 'box' })
}, 120_000)
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]()
  await sandbox?.[Symbol.asyncDispose]()
})

const run = async (sql: string): Promise<void> => {
  const { status, text } = await curl(sandbox.url, sql)
  expect([sql, status, status === 200 ? '' : text]).toEqual([sql, 200, ''])
}
const box = () => parts.hosts.get('box')
const onInvented = async <S extends z.ZodType>(schema: S, statement: { what: string; sql: string }) => {
  const sql = statement.sql.replaceAll(/system\.(clusters|replicas)/g, 'synthetic.$1')
  return readRecords(box(), schema, await parts.client.run(box(), { ...statement, sql }, createCall()))
}
const read = async (request: object, from = parts) => {
  const input = query.methods.topology.input.parse(request)
  return query.methods.topology.output.parse(await from.handlers.topology(input, createCall()))
}

describe('the statements', () => {
  it.each([
    ['24.3', { isActive: null, ddlLag: null }],
    ['24.10', { isActive: null, ddlLag: 7 }],
  ])('read clusters in their order, on a server of %s', async (version, expected) => {
    const rows = await onInvented(ClusterRow, buildClustersStatement(version))
    expect(rows.map(({ cluster, shard, number, host }) => [cluster, shard, number, host])).toEqual([
      ['lone', 1, 1, 'a'],
      ['shop', 1, 1, 'a'],
      ['shop', 1, 2, 'b'],
      ['shop', 2, 1, 'c'],
    ])
    expect(rows[1]).toMatchObject({ isLocal: true, internalReplication: true, ...expected })
    expect(rows[2]).toMatchObject({ errors: 3, slowdowns: 2 })
  })

  it('read one cluster alone', async () => {
    const rows = await onInvented(ClusterRow, buildClustersStatement('24.10', 'lone'))
    expect(rows.map(({ cluster }) => cluster)).toEqual(['lone'])
  })

  it('sum the state of replicated tables', async () => {
    expect(await onInvented(ReplicationRow, replicationStatement)).toEqual([
      {
        tables: 2,
        readonly: 1,
        sessionsExpired: 1,
        maxDelaySeconds: 400,
        queueSize: 50,
        lostParts: 1,
        exception: 'no Keeper',
      },
    ])
  })
})

describe('the topology', () => {
  it('is empty for a host without clusters, and not-found for an unknown cluster', async () => {
    expect(await read({ hostKey: 'box' })).toEqual({ clusters: [], members: [], truncated: false, unavailable: null })
    await expect(read({ hostKey: 'box', cluster: 'shop' })).rejects.toMatchObject({
      code: 'not-found',
      message: 'unknown cluster "shop" on host box',
    })
  })

  it('matches replicas to configured hosts, with their metrics or a reason', async () => {
    const clusters = [
      { ...replicaOf('shop', 1, 1, 'machine-1'), isLocal: true },
      replicaOf('shop', 1, 2, 'machine-2'),
      replicaOf('shop', 2, 1, 'machine-3'),
    ]
    const tables = ['clusters', 'replicas', 'processes']
    await using first = await startHttpStub(({ sql }, response) => response.end(answerOf(sql, 'machine-1', clusters)), {
      tables,
    })
    await using second = await startHttpStub(
      ({ sql }, response) => {
        if (!sql.includes('system.replicas')) return response.end(answerOf(sql, 'machine-2.example.com', []))
        response.writeHead(500).end('Code: 999. DB::Exception: no session. (KEEPER_EXCEPTION)')
      },
      { tables },
    )
    const gone = await startTcpStub(() => undefined)
    await gone[Symbol.asyncDispose]()
    await using stubbed = await openTestService({
      COLUMNDB_HOST: [first, second, gone].map(({ url }) => url).join(','),
      COLUMNDB_NAME: 'one,two,gone',
    })
    const probed = () => stubbed.probe.states().every(({ status }) => status !== 'unknown')
    await expect.poll(probed, { timeout: 10_000 }).toBe(true)

    const { clusters: found, members } = await read({ hostKey: 'one', cluster: 'shop' }, stubbed)
    expect(
      found.map(({ name, shards }) => [
        name,
        shards.map(({ number, replicas }) => [number, replicas.map(({ hostKey }) => hostKey)]),
      ]),
    ).toEqual([
      [
        'shop',
        [
          [1, ['one', 'two']],
          [2, [null]],
        ],
      ],
    ])
    expect(members).toMatchObject([
      { hostKey: 'one', status: 'up', error: null, replication: { tables: 4, queueSize: 9 } },
      { hostKey: 'two', status: 'up', replication: null, error: { message: expect.stringContaining('no session') } },
    ])
  })
})

const quiet = { errors: 0, slowdowns: 0, forgivenInSeconds: 0, isActive: null, ddlLag: null, recoveringMs: null }
const replicaOf = (cluster: string, shard: number, number: number, host: string) => ({
  cluster,
  shard,
  weight: 1,
  internalReplication: 1,
  number,
  host,
  address: '10.0.0.1',
  port: 9000,
  isLocal: false,
  ...quiet,
})

/** Returns the response of a host to the statements of the probe and the topology. */
const answerOf = (sql: string, hostname: string, clusters: object[]): string => {
  if (sql.includes('system.clusters')) return compact(clusters)
  if (sql.includes('system.replicas')) {
    const figures = { tables: 4, readonly: 0, sessionsExpired: 0, maxDelaySeconds: 1, queueSize: 9, lostParts: 0 }
    return compact([{ ...figures, exception: '' }])
  }
  const load = sql.includes('system.processes') ? Array(10).fill(null) : []
  return compact([
    Object.fromEntries(['25.8.1', 77, hostname, 'UTC', 0, ...load].map((value, index) => [`c${index}`, value])),
  ])
}

const compact = (rows: readonly object[]): string =>
  JSON.stringify({
    meta: Object.keys(rows[0] ?? {}).map((name) => ({ name, type: 'String' })),
    data: rows.map((row) => Object.values(row)),
  })
