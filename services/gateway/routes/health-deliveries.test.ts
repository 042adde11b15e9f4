import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DeadLettersAnswer, DeliveriesAnswer, ReplayAnswer, TargetsAnswer } from '#proto/http/deliveries.ts'
import { Failure } from '#proto/http/answer.ts'
import { type FakeProduct, startFake } from '../testing/start.ts'

describe('how people were told', () => {
  let product: FakeProduct
  beforeAll(async () => {
    product = await startFake({ alerts: {}, ingest: {} })
  })
  afterAll(() => product[Symbol.asyncDispose]())
  const ask = async (path: string, init?: RequestInit) => {
    const response = await fetch(`${product.url}/api/v1/health/${path}`, init)
    return { status: response.status, body: await response.json() }
  }
  const post = (path: string, body: object = {}) =>
    ask(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

  it('lists deliveries by what is asked for, with the host as lists name it', async () => {
    const { data, metadata } = DeliveriesAnswer.parse((await ask('deliveries?result=dead&limit=1')).body)
    expect(data).toMatchObject([{ channel: 'webhook', result: 'dead', reason: 'answered 404', host: 'logs' }])
    expect(data[0]).not.toHaveProperty('hostKey')
    expect(metadata.next).toBe(1_790_000_000_000)
    expect(DeliveriesAnswer.parse((await ask('deliveries?result=sent')).body).data).toEqual([])
  })

  it('says where alerts go, and which of these places is broken', async () => {
    const { data } = TargetsAnswer.parse((await ask('targets')).body)
    expect(data).toMatchObject([{ channel: 'webhook', name: 'webhook', broken: { reason: 'answered 404' } }])
  })

  it('lists what was given up, alerts and inbound events, and sends it again', async () => {
    const { data } = DeadLettersAnswer.parse((await ask('dead-letters')).body)
    expect(data).toMatchObject([
      { stream: 'EVENTS', id: '9', title: 'Disk full', source: 'alertmanager' },
      { stream: 'DELIVER', id: '7', title: 'Disk full', host: 'logs' },
    ])
    expect(ReplayAnswer.parse((await post('dead-letters/7/replay')).body).data).toMatchObject({ id: '7' })
    const again = await post('dead-letters/9/replay', { stream: 'EVENTS' })
    expect(ReplayAnswer.parse(again.body).data).toMatchObject({ id: '9', stream: 'EVENTS' })
    const audited = JSON.parse(await (await fetch(`${product.url}/api/v1/audit?limit=2`)).text())
    expect(audited.data).toMatchObject([{ action: 'replay-event' }, { action: 'replay-alert' }])
  })

  it.each(['DELIVER', 'EVENTS'])('lists those of %s alone when asked to', async (stream) => {
    const { data } = DeadLettersAnswer.parse((await ask(`dead-letters?stream=${stream}`)).body)
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
  ])('refuses %s and names %s', async (path, name) => {
    const { status, body } = await ask(path)
    expect(status).toBe(400)
    expect(Failure.parse(body).error.message).toContain(name)
  })

  it('does not know a letter that is not there, nor an id that is none', async () => {
    expect(await post('dead-letters/8/replay')).toMatchObject({ status: 404 })
    expect(await post('dead-letters/8/replay', { stream: 'EVENTS' })).toMatchObject({ status: 404 })
    expect(await post('dead-letters/7/replay', { stream: 'DLQ' })).toMatchObject({ status: 400 })
    expect(await post('dead-letters/x/replay')).toMatchObject({ status: 400 })
  })
})
