import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AlertStateResponse, SilenceResponse } from '#proto/http/alerts.ts'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'

const base = '/api/v1/health'

describe('inbound conditions', () => {
  let product: FakeProduct
  beforeAll(async () => {
    product = await startFakeProduct({ alerts: {} })
  })
  afterAll(() => product[Symbol.asyncDispose]())
  const send = async (method: string, path: string, body?: unknown) => {
    const init = { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const response = await fetch(`${product.url}${base}/${path}`, init)
    return { status: response.status, body: (await response.json()) as unknown }
  }
  const stateOf = async (query: string) => AlertStateResponse.parse((await send('GET', `alert-state${query}`)).body)

  it('are listed with those of hosts, under the name of their source', async () => {
    const { data, metadata } = await stateOf('')
    expect(data.map(({ hostId, host, source, title }) => [hostId, host, source, title])).toEqual([
      [1, 'logs', null, 'Disk full'],
      [null, 'prometheus', 'prometheus', 'Disk full'],
    ])
    expect(metadata).toMatchObject({ count: 2, truncated: false })
    expect((await stateOf('?hostId=1')).data.map(({ source }) => source)).toEqual([null])
  })

  it.each([
    ['ack', { duration: '15m', note: 'on it' }, 'acknowledge-alert', 'unacknowledge-alert'],
    ['dismiss', { minutes: 15 }, 'dismiss-alert', 'restore-alert'],
  ])('accept an %s by episode and its removal, with audit records', async (path, body, done, undone) => {
    const said = SilenceResponse.parse((await send('POST', `inbound/inbound-1/${path}`, body)).body).data
    expect(said).toMatchObject({ episode: 'inbound-1', hostId: null, host: null, untilMs: 902_000 })
    expect((await send('DELETE', `inbound/inbound-1/${path}`)).status).toBe(200)
    const record = (await (await fetch(`${product.url}/api/v1/audit?limit=2`)).json()) as { data: unknown }
    expect(record.data).toMatchObject([
      { action: undone, target: { episode: 'inbound-1' } },
      { action: done, target: { episode: 'inbound-1', minutes: '15' } },
    ])
  })

  it.each([
    ['POST', 'inbound/other/ack', { duration: '4h' }, 404, 'inbound condition not found'],
    ['POST', 'inbound/inbound-1/ack', { duration: '1h' }, 400, 'duration'],
    ['POST', 'inbound/inbound-1/ack', {}, 400, 'duration'],
    ['POST', 'inbound/inbound-1/dismiss', { minutes: 0 }, 400, 'minutes'],
    ['POST', 'inbound/inbound-1/dismiss', { hostId: 0 }, 400, 'hostId'],
  ])('%s %s %j returns %s and names %s', async (method, path, body, status, says) => {
    const answered = await send(method, path, body)
    expect([answered.status, JSON.stringify(answered.body)]).toEqual([status, expect.stringContaining(says)])
  })
})
