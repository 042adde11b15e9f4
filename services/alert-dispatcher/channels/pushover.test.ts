import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { pushoverChannel } from './pushover.ts'
import { pushoverRig } from './testing/pushover.ts'
import { createMessage, sendOnce } from './testing/send-once.ts'
import type { StrictServer } from './testing/strict-server.ts'

describe('Pushover', () => {
  let server: StrictServer
  beforeEach(async () => {
    server = await pushoverRig.start()
  })
  afterEach(() => server[Symbol.asyncDispose]())

  const rings = { HEALTH_ALERT_PUSH_B_EMERGENCY: 'on' }
  const send = (message = createMessage(), env = {}) =>
    sendOnce({ channel: pushoverChannel, rig: pushoverRig, server, message, env })
  const sent = (): { priority: number; tags?: string }[] => server.taken.map(({ text }) => JSON.parse(text))
  const paths = () => server.received.map(({ path }) => path)

  it.each([
    [{ severity: 'critical' }, 1, 2],
    [{ severity: 'warning' }, 0, 0],
    [{ severity: 'critical', kind: 'test' }, 0, 0],
  ] as const)('sends %j with priority %s, and with %s if critical alerts repeat', async (more, usual, ringing) => {
    expect(await send(createMessage(more))).toEqual({ kind: 'ok' })
    expect(await send(createMessage(more), rings)).toEqual({ kind: 'ok' })
    expect(sent().map(({ priority }) => priority)).toEqual([usual, ringing])
  })

  it('cancels a repeating alert on recovery by the tag of its episode', async () => {
    await send(createMessage({ severity: 'critical' }), rings)
    expect(await send(createMessage({ severity: 'critical', kind: 'recover' }), rings)).toEqual({ kind: 'ok' })
    const [alarm, , end] = sent()
    expect(alarm?.tags).toMatch(/^[0-9a-f]{32}$/)
    expect(paths()).toEqual(['/1/messages.json', `/1/receipts/cancel_by_tag/${alarm?.tags}.json`, '/1/messages.json'])
    expect(end?.priority).toBe(-1)
  })

  it('sends the recovery without an alert to cancel, but only after the cancellation worked', async () => {
    const recovery = createMessage({ severity: 'critical', kind: 'recover' })
    server.next({ status: 400, body: JSON.stringify({ status: 0 }) })
    expect(await send(recovery, rings)).toEqual({ kind: 'ok' })
    server.next({ status: 500 })
    expect(await send(recovery, rings)).toMatchObject({ kind: 'retry' })
    expect(server.taken).toHaveLength(1)
  })

  it.each([
    [400, { status: 0, token: 'invalid' }, 'config'],
    [400, { status: 0, user: 'invalid' }, 'config'],
    [400, { status: 0, message: 'cannot be blank' }, 'permanent'],
    [200, { status: 0 }, 'retry'],
    [500, {}, 'retry'],
  ])('classifies %s %j as %s', async (status, body, kind) => {
    server.next({ status, body: JSON.stringify(body) })
    expect((await send()).kind).toBe(kind)
  })

  it.each([
    [{}, 5_000],
    [{ 'retry-after': '9' }, 9_000],
  ])('waits at least five seconds after a server error: %j', async (headers, afterMs) => {
    server.next({ status: 503, headers })
    expect(await send()).toMatchObject({ kind: 'retry', reason: 'HTTP 503', afterMs })
  })

  it('waits until the monthly quota resets, by the clock of the server', async () => {
    const now = Date.UTC(2026, 0, 31, 23)
    const reset = Date.UTC(2026, 1, 1) / 1_000
    const headers = { date: new Date(now).toUTCString(), 'x-limit-app-reset': String(reset) }
    server.next({ status: 429, headers })
    expect(await send()).toEqual({ kind: 'retry', reason: 'HTTP 429', afterMs: 3_600_000 })
  })
})
