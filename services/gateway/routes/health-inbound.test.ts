import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AlertStateAnswer, SilenceAnswer } from '#proto/http/alerts.ts'
import { type FakeProduct, startFake } from '../testing/start.ts'

const base = '/api/v1/health'

describe('conditions that inbound events began', () => {
  let product: FakeProduct
  beforeAll(async () => {
    product = await startFake({ alerts: {} })
  })
  afterAll(() => product[Symbol.asyncDispose]())
  const ask = async (method: string, path: string, body?: unknown) => {
    const init = { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const response = await fetch(`${product.url}${base}/${path}`, init)
    return { status: response.status, body: (await response.json()) as unknown }
  }
  const stateOf = async (query: string) => AlertStateAnswer.parse((await ask('GET', `alert-state${query}`)).body)

  it('stand beside those of hosts, under the name of their source, and on no one host', async () => {
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
  ])('take an %s by their episode, and give it back, on record', async (path, body, done, undone) => {
    const said = SilenceAnswer.parse((await ask('POST', `inbound/inbound-1/${path}`, body)).body).data
    expect(said).toMatchObject({ episode: 'inbound-1', hostId: null, host: null, untilMs: 902_000 })
    expect((await ask('DELETE', `inbound/inbound-1/${path}`)).status).toBe(200)
    const record = (await (await fetch(`${product.url}/api/v1/audit?limit=2`)).json()) as { data: unknown }
    expect(record.data).toMatchObject([
      { action: undone, target: { episode: 'inbound-1' } },
      { action: done, target: { episode: 'inbound-1', minutes: '15' } },
    ])
  })

  it.each([
    ['POST', 'inbound/other/ack', { duration: '4h' }, 404, 'no such condition'],
    ['POST', 'inbound/inbound-1/ack', { duration: '1h' }, 400, 'duration'],
    ['POST', 'inbound/inbound-1/ack', {}, 400, 'duration'],
    ['POST', 'inbound/inbound-1/dismiss', { minutes: 0 }, 400, 'minutes'],
    ['POST', 'inbound/inbound-1/dismiss', { hostId: 0 }, 400, 'hostId'],
  ])('%s %s %j answers %s and names %s', async (method, path, body, status, says) => {
    const answered = await ask(method, path, body)
    expect([answered.status, JSON.stringify(answered.body)]).toEqual([status, expect.stringContaining(says)])
  })
})
