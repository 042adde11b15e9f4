import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { ChartResponse, TableResponse } from '#proto/http/data.ts'
import { fetchJson, queryClickHouse, retryUntil } from '../../testing/fetch-json.ts'
import { type Product, startProduct } from '../../testing/product.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

/** The two replicas that `run.ts` has started. They form one shard. */
const urls = z.tuple([z.url(), z.url()]).parse(process.env.TEST_CLICKHOUSE_REPLICAS?.split(','))
const [a, b] = urls
const arrived = 100
const awaited = 3

let product: Product

/** Creates rows on both replicas. Then stops fetches on the second and creates parts that only the first one has. */
beforeAll(async () => {
  await queryClickHouse(
    a,
    `CREATE TABLE default.orders ON CLUSTER default (id UInt64)
    ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/orders', '{replica}') ORDER BY id`,
  )
  await queryClickHouse(a, `INSERT INTO default.orders SELECT number FROM numbers(${arrived})`)
  await queryClickHouse(b, 'SYSTEM SYNC REPLICA default.orders')
  await queryClickHouse(b, 'SYSTEM STOP FETCHES default.orders')
  for (let insert = 0; insert < awaited; insert++) {
    await queryClickHouse(a, `INSERT INTO default.orders SELECT number + ${(insert + 1) * 1_000} FROM numbers(10)`)
  }
  product = await startProduct({
    hosts: [
      { url: a, name: 'a' },
      { url: b, name: 'b' },
    ],
    env: { SVC_QUERY_CACHE: 'off' },
  })
})
afterAll(() => product?.stop())

const rowsOf = async (host: number, page: string): Promise<Record<string, unknown>[]> => {
  const { data, metadata } = TableResponse.parse(
    (await fetchJson(`${product.url}/api/v1/tables/${page}?hostId=${host}`)).body,
  )
  expect(metadata.unavailable).toBeNull()
  return data
}

describe('a replica that may not fetch', () => {
  it('has its queue on the pages and charts of replication', async () => {
    const queue = await retryUntil(
      () => rowsOf(1, 'replication-queue'),
      (rows) => rows.length === awaited,
    )
    expect(queue.map((row) => [row.table, row.type, row.replica])).toEqual(
      Array.from({ length: awaited }, () => ['orders', 'GET_PART', 'b']),
    )
    const chart = ChartResponse.parse(
      (await fetchJson(`${product.url}/api/v1/charts/replication-queue-count?hostId=1`)).body,
    )
    expect(chart.data).toMatchObject([{ entries: awaited }])
    expect(await rowsOf(1, 'replicas')).toMatchObject([
      { table: 'orders', queue: awaited, total_replicas: 2, active_replicas: 2, is_readonly: 0 },
    ])
  })

  it('is behind the other in rows', async () => {
    const counted = await rowsOf(0, 'count-in-replicas')
    expect(counted.map((row) => row.rows).toSorted()).toEqual([arrived, arrived + awaited * 10])
  })
})

describe('the cluster', () => {
  it('is shown with its replicas, its Keeper and its distributed DDL statements', async () => {
    expect(await rowsOf(0, 'clusters')).toMatchObject([{ cluster: 'default', shards: 1, replicas: 2, is_member: 1 }])
    expect(await rowsOf(0, 'keeper-connections')).toMatchObject([{ port: expect.any(Number), is_expired: 0 }])
    const [statement] = await rowsOf(0, 'distributed-ddl-queue')
    expect(String(statement?.query)).toContain('orders')
  })
})
