import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { opsgenieChannel } from './opsgenie.ts'
import { opsgenieEuRig, opsgenieRig } from './testing/opsgenie.ts'
import { createMessage, sendOnce } from './testing/send-once.ts'
import type { StrictServer } from './testing/strict-server.ts'

describe('Opsgenie', () => {
  let server: StrictServer
  beforeEach(async () => {
    server = await opsgenieRig.start()
  })
  afterEach(() => server[Symbol.asyncDispose]())

  const send = (message = createMessage()) => sendOnce({ channel: opsgenieChannel, rig: opsgenieRig, server, message })
  const paths = () => server.received.map(({ method, path }) => `${method} ${path}`)
  const sent = () => server.taken.map(({ text }) => JSON.parse(text))

  it.each([
    [{ severity: 'critical' }, 'P1'],
    [{ severity: 'warning' }, 'P3'],
    [{ severity: 'critical', kind: 'test' }, 'P5'],
  ] as const)('creates an alert for %j with priority %s and the episode as alias', async (more, priority) => {
    expect(await send(createMessage(more))).toEqual({ kind: 'ok' })
    expect(sent()).toMatchObject([{ alias: 'episode-1', priority }])
  })

  it('updates the open alert on escalation', async () => {
    expect(await send(createMessage({ kind: 'escalate', severity: 'critical' }))).toEqual({ kind: 'ok' })
    expect(paths()).toEqual([
      'POST /v2/alerts',
      'PUT /v2/alerts/episode-1/priority?identifierType=alias',
      'PUT /v2/alerts/episode-1/message?identifierType=alias',
    ])
    expect(sent()[1]).toEqual({ priority: 'P1' })
  })

  it('repeats all requests if one fails', async () => {
    const message = createMessage({ kind: 'escalate', severity: 'critical' })
    server.next({ status: 202 }, { status: 500 })
    expect(await send(message)).toMatchObject({ kind: 'retry' })
    expect(await send(message)).toEqual({ kind: 'ok' })
    expect(paths()).toHaveLength(5)
  })

  it('closes the alert by its alias, with any characters', async () => {
    expect(await send(createMessage({ kind: 'recover', episode: 'a/b?c #ü' }))).toEqual({ kind: 'ok' })
    expect(paths()).toEqual(['POST /v2/alerts/a%2Fb%3Fc%20%23%C3%BC/close?identifierType=alias'])
  })

  it('accepts that an alert to close no longer exists', async () => {
    server.next({ status: 404 })
    expect(await send(createMessage({ kind: 'recover' }))).toEqual({ kind: 'ok' })
  })

  it('cuts the message between characters', async () => {
    await send(createMessage({ title: '👩‍👩‍👧'.repeat(100) }))
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
  ])('uses the region %s', async (region, isEurope) => {
    const rig = isEurope ? opsgenieEuRig : opsgenieRig
    const env = { HEALTH_ALERT_PAGING_B_REGION: region }
    expect(await sendOnce({ channel: opsgenieChannel, rig, server, env })).toEqual({ kind: 'ok' })
    expect(server.taken).toHaveLength(1)
  })
})
