import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DeadLettersResponse, DeliveriesResponse, ReplayResponse, TargetsResponse } from '#proto/http/deliveries.ts'
import { ErrorResponse } from '#proto/http/response.ts'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'

describe('deliveries', () => {
  let product: FakeProduct
  beforeAll(async () => {
    product = await startFakeProduct({ alerts: {}, ingest: {} })
  })
  afterAll(() => product[Symbol.asyncDispose]())
  const send = async (path: string, init?: RequestInit) => {
    const response = await fetch(`${product.url}/api/v1/health/${path}`, init)
    return { status: response.status, body: await response.json() }
  }
  const post = (path: string, body: object = {}) =>
    send(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

  it('are filtered and have the name of the host', async () => {
    const { data, metadata } = DeliveriesResponse.parse((await send('deliveries?result=dead&limit=1')).body)
    expect(data).toMatchObject([{ channel: 'webhook', result: 'dead', reason: 'HTTP 404', host: 'logs' }])
    expect(data[0]).not.toHaveProperty('hostKey')
    expect(metadata.next).toBe(1_790_000_000_000)
    expect(DeliveriesResponse.parse((await send('deliveries?result=sent')).body).data).toEqual([])
  })

  it('list the targets of alerts and which of them fail', async () => {
    const { data } = TargetsResponse.parse((await send('targets')).body)
    expect(data).toMatchObject([{ channel: 'webhook', name: 'webhook', broken: { reason: 'HTTP 404' } }])
  })

  it('list and replay dead letters of alerts and inbound events', async () => {
    const { data } = DeadLettersResponse.parse((await send('dead-letters')).body)
    expect(data).toMatchObject([
      { stream: 'EVENTS', id: '9', title: 'Disk full', source: 'alertmanager' },
      { stream: 'DELIVER', id: '7', title: 'Disk full', host: 'logs' },
    ])
    expect(ReplayResponse.parse((await post('dead-letters/7/replay')).body).data).toMatchObject({ id: '7' })
    const again = await post('dead-letters/9/replay', { stream: 'EVENTS' })
    expect(ReplayResponse.parse(again.body).data).toMatchObject({ id: '9', stream: 'EVENTS' })
    const audited = JSON.parse(await (await fetch(`${product.url}/api/v1/audit?limit=2`)).text())
    expect(audited.data).toMatchObject([{ action: 'replay-event' }, { action: 'replay-alert' }])
  })

  it.each(['DELIVER', 'EVENTS'])('list only dead letters of %s on request', async (stream) => {
    const { data } = DeadLettersResponse.parse((await send(`dead-letters?stream=${stream}`)).body)
    expect(data.map((letter) => letter.stream)).toEqual([stream])
  })

  it.each([
    ['deliveries?limit=0', 'limit'],
    ['deliveries?limit=501', 'limit'],
    ['deliveries?result=lost', 'result'],
    ['deliveries?before=yesterday', 'before'],
    ['deliveries?chanel=sms', 'chanel'],
    ['dead-letters?before=x', 'before'],
    ['dead-letters?stream=DLQ', 'stream'],
  ])('reject %s and name %s', async (path, name) => {
    const { status, body } = await send(path)
    expect(status).toBe(400)
    expect(ErrorResponse.parse(body).error.message).toContain(name)
  })

  it('return an error for an unknown or invalid letter id', async () => {
    expect(await post('dead-letters/8/replay')).toMatchObject({ status: 404 })
    expect(await post('dead-letters/8/replay', { stream: 'EVENTS' })).toMatchObject({ status: 404 })
    expect(await post('dead-letters/7/replay', { stream: 'DLQ' })).toMatchObject({ status: 400 })
    expect(await post('dead-letters/x/replay')).toMatchObject({ status: 400 })
  })
})
