import { expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import { ChangesResponse } from '#proto/http/changes.ts'
import { fetchJson } from '../../testing/fetch-json.ts'
import { startFakeProduct } from '../testing/fake-product.ts'

const nowMs = 1_800_000_000_000
const table = {
  hostKey: 'logs',
  kind: 'table',
  name: 'shop.orders',
  change: 'changed' as const,
  atMs: nowMs - 60_000,
  sinceMs: 0,
  summary: '',
  diff: '--- a\n+++ b',
}
const deployment = {
  id: 'd',
  kind: 'deployment',
  repository: 'shop',
  version: 'v2',
  environment: 'production',
  outcome: 'success',
  title: 'Release v2',
  by: 'ada',
  url: null,
  atMs: nowMs - 120_000,
}
const range = `from=${nowMs / 1_000 - 3_600}&to=${nowMs / 1_000}`

it('lists changes of hosts and deployments, newest first', async () => {
  await using product = await startFakeProduct({
    query: { objectChanges: async () => ({ changes: [table], isEnabled: true, problem: null }) },
    ingest: { deployments: async () => [deployment] },
  })
  const { status, body } = await fetchJson(`${product.url}/api/v1/changes?${range}`)
  expect(status).toBe(200)
  const { data, metadata } = ChangesResponse.parse(body)
  expect(data).toMatchObject([
    { kind: 'schema', hostId: 1, host: 'logs', title: 'table shop.orders changed', diff: table.diff },
    { kind: 'deployment', hostId: null, title: 'shop: Release v2', detail: 'production, success, by ada' },
  ])
  // The service of alerts does not run, so its changes are missing with a reason.
  expect(metadata).toMatchObject({ isRecorded: true, problems: [expect.stringMatching(/^alerts: /)] })
})

it('passes host, kind and range on, and reports a missing history', async () => {
  await using product = await startFakeProduct({
    query: { objectChanges: async () => ({ changes: [], isEnabled: false, problem: null }) },
    ingest: { deployments: () => Promise.reject(new ServiceError('unavailable', 'no database')) },
    alerts: { alertHistory: async () => [] },
  })
  const read = async (filter: string) =>
    ChangesResponse.parse((await fetchJson(`${product.url}/api/v1/changes?${filter}${range}`)).body).metadata
  expect(await read('hostId=1&kind=access&limit=5&')).toMatchObject({ isRecorded: false, problems: [] })
  expect(await read('')).toMatchObject({ isRecorded: false, problems: ['deployments: no database'] })
  expect(product.received.find(({ method }) => method === 'objectChanges')?.input).toEqual({
    hostKeys: ['logs'],
    kinds: ['user', 'role', 'grants', 'quota', 'row-policy'],
    fromMs: nowMs - 3_600_000,
    toMs: nowMs,
    limit: 5,
  })
})

it('rejects invalid parameters', async () => {
  await using product = await startFakeProduct()
  for (const query of ['kind=weather', 'from=5&to=4', 'hostId=-1', 'limit=501'])
    expect([query, (await fetchJson(`${product.url}/api/v1/changes?${query}`)).status]).toEqual([query, 400])
})
