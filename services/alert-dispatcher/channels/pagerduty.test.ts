import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { pagerDutyChannel } from './pagerduty.ts'
import { pagerDutyRig } from './testing/pagerduty.ts'
import { createMessage, sendOnce } from './testing/send-once.ts'
import type { StrictServer } from './testing/strict-server.ts'

describe('PagerDuty', () => {
  let server: StrictServer
  beforeEach(async () => {
    server = await pagerDutyRig.start()
  })
  afterEach(() => server[Symbol.asyncDispose]())

  const send = (message = createMessage()) =>
    sendOnce({ channel: pagerDutyChannel, rig: pagerDutyRig, server, message })
  const sent = () => server.taken.map(({ text }) => JSON.parse(text))

  it('opens one incident per episode and resolves it', async () => {
    for (const kind of ['fire', 'escalate', 'remind', 'recover'] as const) {
      expect(await send(createMessage({ kind, severity: 'critical' }))).toEqual({ kind: 'ok' })
    }
    expect(sent().map(({ event_action: action }) => action)).toEqual(['trigger', 'trigger', 'trigger', 'resolve'])
    expect(new Set(sent().map(({ dedup_key: key }) => key))).toEqual(new Set(['watchhouse-0123456789abcdef:episode-1']))
  })

  it.each([
    [{ severity: 'critical' }, 'critical'],
    [{ severity: 'warning' }, 'warning'],
    [{ severity: 'critical', kind: 'test' }, 'info'],
  ] as const)('sends %j as %s', async (more, severity) => {
    await send(createMessage(more))
    expect(sent()[0].payload.severity).toBe(severity)
  })

  it('cuts a summary between characters', async () => {
    await send(createMessage({ title: '👩‍👩‍👧'.repeat(200) }))
    const { summary } = sent()[0].payload
    expect(summary.length).toBeLessThanOrEqual(1_024)
    expect(summary).toMatch(/👩‍👩‍👧…$/u)
  })

  it.each([
    [400, { status: 'invalid event', errors: ['Invalid routing key'] }, 'config'],
    [400, { status: 'invalid event', errors: ["'payload.summary' is missing"] }, 'permanent'],
    [403, {}, 'config'],
    [429, {}, 'retry'],
    [503, {}, 'retry'],
  ])('classifies %s %j as %s', async (status, body, kind) => {
    server.next({ status, body: JSON.stringify(body) })
    expect((await send()).kind).toBe(kind)
  })
})
