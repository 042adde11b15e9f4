import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ErrorResponse } from '#proto/http/response.ts'
import { TopologyResponse } from '#proto/http/cluster.ts'
import { ComparisonResponse, SettingsDiffResponse } from '#proto/http/comparison.ts'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'

let product: FakeProduct
beforeAll(async () => {
  product = await startFakeProduct()
})
beforeEach(() => product.received.splice(0))
afterAll(async () => product[Symbol.asyncDispose]())

const send = async (path: string): Promise<{ status: number; body: unknown }> => {
  const response = await fetch(`${product.url}/api/v1/${path}`)
  return { status: response.status, body: await response.json() }
}

const everything = { changedOnly: false, differentOnly: false }
const questions: [path: string, method: string, input: unknown][] = [
  ['cluster/topology', 'topology', { hostKey: 'analytics' }],
  ['cluster/topology?hostId=1&cluster=a%20b', 'topology', { hostKey: 'logs', cluster: 'a b' }],
  ['settings-diff?hosts=1,0', 'settingsDiff', { hostKeys: ['logs', 'analytics'], ...everything }],
  ['settings-diff?hostId=1&hostId=0', 'settingsDiff', { hostKeys: ['logs', 'analytics'], ...everything }],
  [
    'settings-diff?hosts=0,1&changedOnly=1&differentOnly=true',
    'settingsDiff',
    { hostKeys: ['analytics', 'logs'], changedOnly: true, differentOnly: true },
  ],
  [
    'schema-diff?baseHostId=0&targetHostId=1',
    'schemaDiff',
    { base: { hostKeys: ['analytics'] }, target: { hostKeys: ['logs'] } },
  ],
  [
    'schema-diff?baseGroup=eu&targetHostId=0&targetTime=1780315200&database=shop',
    'schemaDiff',
    {
      base: { hostKeys: ['analytics'] },
      target: { hostKeys: ['analytics'], atMs: 1_780_315_200_000 },
      database: 'shop',
    },
  ],
  ['compare?hosts=0,1', 'comparison', { hostKeys: ['analytics', 'logs'], limit: 50 }],
  [
    'compare?hosts=1,0&lastHours=48&limit=7',
    'comparison',
    { hostKeys: ['logs', 'analytics'], lastHours: 48, limit: 7 },
  ],
  ['own-cost?hostId=1&from=10&to=20', 'ownCost', { hostKey: 'logs', from: 10, to: 20 }],
]

/** Invalid requests: path, invalid parameter and part of its message. */
const refused: [path: string, parameter: string, says: string][] = [
  ['settings-diff', 'hostId', 'is required'],
  ['settings-diff?hostId=0', 'hostId', '2 to 16 times'],
  ['settings-diff?hostId=1&hostId=1', 'hostId', '2 to 16 times'],
  ['settings-diff?hosts=0', 'hosts', '2 to 16 different host ids'],
  ['settings-diff?hosts=0,0', 'hosts', '2 to 16 different host ids'],
  [`settings-diff?hosts=${Array.from({ length: 17 }, (_, id) => id).join(',')}`, 'hosts', '2 to 16'],
  ['settings-diff?hosts=0,', 'hosts', '2 to 16'],
  ['settings-diff?hosts=0,x', 'hosts', '2 to 16'],
  ['settings-diff?hosts=0,100000', 'hosts', '2 to 16'],
  ['settings-diff?hosts=00,1', 'hosts', '2 to 16'],
  ['settings-diff?hosts=0&hosts=1', 'hosts', 'only once'],
  ['settings-diff?hosts=0,1&changedOnly=yes', 'changedOnly', '1 or 0'],
  ['settings-diff?hosts=0,1&hostId=1&hostId=0', 'hostId', 'not both'],
  ['schema-diff?targetHostId=1', 'baseHostId', 'is required'],
  ['schema-diff?baseHostId=0&baseGroup=eu&targetHostId=1', 'baseHostId', 'not both'],
  ['schema-diff?baseHostId=0&targetHostId=0', 'targetHostId', 'must differ'],
  ['schema-diff?baseHostId=0&targetHostId=1&baseTime=yesterday', 'baseTime', 'epoch seconds'],
  ['schema-diff?baseHostId=0&targetHostId=1&database=', 'database', 'must name a database'],
  ['compare?hosts=0,1&limit=201', 'limit', 'from 1 to 200'],
  ['compare?hosts=0,1&from=20&to=10', 'to', 'later than from'],
  ['compare?hosts=0,1&lastHours=0', 'lastHours', 'from 1 to 9600'],
  ['cluster/topology?cluster=', 'cluster', 'must name a cluster'],
  [`cluster/topology?cluster=${'x'.repeat(257)}`, 'cluster', '256'],
  ['own-cost?lastHours=9601', 'lastHours', 'from 1 to 9600'],
]

describe('routes about several hosts', () => {
  it.each(questions)('request %s', async (path, method, input) => {
    expect((await send(path)).status).toBe(200)
    expect(product.received.find((received) => received.method === method)?.input).toEqual(input)
  })

  it.each(refused)('reject %.60s', async (path, parameter, says) => {
    const { status, body } = await send(path)
    const { error } = ErrorResponse.parse(body)
    expect([status, error.type, error.details?.parameter]).toEqual([400, 'invalid', parameter])
    expect(error.message).toContain(says)
  })

  it.each(['settings-diff?hosts=0,7', 'compare?hosts=7,0'])('list the available hosts: %s', async (path) => {
    const { status, body } = await send(path)
    const { message, details } = ErrorResponse.parse(body).error
    expect([status, message]).toEqual([404, 'unknown host "7"; available: 0 (analytics), 1 (logs)'])
    expect(details?.parameter).toBe('hosts')
  })
})

describe('responses about several hosts', () => {
  it('have values by host id, and the reason for hosts without', async () => {
    const { data } = SettingsDiffResponse.parse((await send('settings-diff?hosts=1,0')).body)
    expect(data.hosts.map(({ id, name, error }) => [id, name, error?.message])).toEqual([
      [1, 'logs', 'host logs cannot be reached'],
      [0, 'analytics', undefined],
    ])
    expect(data.rows[0]?.values).toEqual({ 0: '8', 1: null })
    const compared = ComparisonResponse.parse((await send('compare?hosts=0,1')).body)
    expect(compared.data.hosts.map(({ id, metrics }) => [id, metrics?.tables])).toEqual([
      [0, 40],
      [1, undefined],
    ])
    expect(compared.data.patterns[0]?.values).toMatchObject({ 0: { calls: 2 }, 1: null })
  })

  it('mark replicas that are monitored hosts', async () => {
    const { data, metadata } = TopologyResponse.parse((await send('cluster/topology')).body)
    const replicas = data.clusters.flatMap(({ shards }) => shards.flatMap((shard) => shard.replicas))
    expect(replicas.map(({ host, hostId }) => [host, hostId])).toEqual([
      ['ch1', 0],
      ['ch9', null],
    ])
    expect(data.members).toMatchObject([{ id: 0, name: 'analytics', replication: { queueSize: 2 } }])
    expect(metadata).toEqual({ host: 'analytics', truncated: false, unavailable: null })
  })

  it('never contain internal host keys', async () => {
    for (const [path] of questions) expect(JSON.stringify((await send(path)).body)).not.toContain('hostKey')
  })
})
