import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { pagingB } from './paging-b.ts'
import { pagingBEuRig, pagingBRig } from './testing/paging-b.ts'
import { messageFor, sendOnce } from './testing/send-once.ts'
import type { StrictServer } from './testing/strict-server.ts'

describe('Opsgenie', () => {
  let server: StrictServer
  beforeEach(async () => {
    server = await pagingBRig.start()
  })
  afterEach(() => server[Symbol.asyncDispose]())

  const send = (message = messageFor()) => sendOnce({ channel: pagingB, rig: pagingBRig, server, message })
  const paths = () => server.received.map(({ method, path }) => `${method} ${path}`)
  const sent = () => server.taken.map(({ text }) => JSON.parse(text))

  it.each([
    [{ severity: 'critical' }, 'P1'],
    [{ severity: 'warning' }, 'P3'],
    [{ severity: 'critical', kind: 'test' }, 'P5'],
  ] as const)('opens %j as %s under the alias of the episode', async (more, priority) => {
    expect(await send(messageFor(more))).toEqual({ kind: 'ok' })
    expect(sent()).toMatchObject([{ alias: 'episode-1', priority }])
  })

  it('raises what is open when it has become worse', async () => {
    expect(await send(messageFor({ kind: 'escalate', severity: 'critical' }))).toEqual({ kind: 'ok' })
    expect(paths()).toEqual([
      'POST /v2/alerts',
      'PUT /v2/alerts/episode-1/priority?identifierType=alias',
      'PUT /v2/alerts/episode-1/message?identifierType=alias',
    ])
    expect(sent()[1]).toEqual({ priority: 'P1' })
  })

  it('does all of it again when a part was not taken', async () => {
    const message = messageFor({ kind: 'escalate', severity: 'critical' })
    server.next({ status: 202 }, { status: 500 })
    expect(await send(message)).toMatchObject({ kind: 'retry' })
    expect(await send(message)).toEqual({ kind: 'ok' })
    expect(paths()).toHaveLength(5)
  })

  it('closes by the alias, whatever is in it', async () => {
    expect(await send(messageFor({ kind: 'recover', episode: 'a/b?c #ü' }))).toEqual({ kind: 'ok' })
    expect(paths()).toEqual(['POST /v2/alerts/a%2Fb%3Fc%20%23%C3%BC/close?identifierType=alias'])
  })

  it('need not close what is not there any more', async () => {
    server.next({ status: 404 })
    expect(await send(messageFor({ kind: 'recover' }))).toEqual({ kind: 'ok' })
  })

  it('cuts the message between characters', async () => {
    await send(messageFor({ title: '👩‍👩‍👧'.repeat(100) }))
    const { message } = sent()[0]
    expect(message.length).toBeLessThanOrEqual(130)
    expect(message).toMatch(/👩‍👩‍👧…$/u)
  })

  it.each([
    ['eu', true],
    ['EU', true],
    ['us', false],
    ['elsewhere', false],
    [undefined, false],
  ])('is asked in the region %s', async (region, isEurope) => {
    const rig = isEurope ? pagingBEuRig : pagingBRig
    const env = { HEALTH_ALERT_PAGING_B_REGION: region }
    expect(await sendOnce({ channel: pagingB, rig, server, env })).toEqual({ kind: 'ok' })
    expect(server.taken).toHaveLength(1)
  })
})
