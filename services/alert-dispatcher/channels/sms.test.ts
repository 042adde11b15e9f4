import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { waitUntil } from '#shared/bus/conformance/implementations.suite.ts'
import { findSettingProblems } from '#shared/config/setting.ts'
import { testServiceCall, openDeliveryFixture } from '../delivery/testing/fixture.ts'
import { createNotification } from '../delivery/testing/notification.ts'
import { smsChannel } from './sms.ts'
import { createMessage, sendOnce } from './testing/send-once.ts'
import { smsRig } from './testing/sms.ts'
import type { StrictServer } from './testing/strict-server.ts'

const targetsOf = (more: Record<string, string>) =>
  smsChannel.targets({ ...smsRig.env(''), ...more }, { webhookTargets: [], subscriptions: [], chatApplications: [] })

describe('SMS', () => {
  let server: StrictServer
  beforeEach(async () => {
    server = await smsRig.start()
  })
  afterEach(() => server[Symbol.asyncDispose]())

  it('is sent to each number, even if one is rejected', async () => {
    const env = { ...smsRig.env(server.url), HEALTH_ALERT_SMS_TO: '+14155550123, +14155550124,+14155550123' }
    const standIns = { 'https://api.twilio.com': server.url }
    await using fixture = await openDeliveryFixture({ env, standIns })
    server.next({ status: 400, body: JSON.stringify({ code: 21610, message: 'unsubscribed' }) })
    await fixture.notify(createNotification({ severity: 'critical' }))
    const ends = () => fixture.delivery.handlers.deliveries({ limit: 10 }, testServiceCall)
    await waitUntil(async () => (await ends()).length === 2)
    expect((await ends()).map(({ result }) => result).toSorted()).toEqual(['dead', 'sent'])
    const numbers = server.received.map(({ text }) => new URLSearchParams(text).get('To'))
    expect(numbers.toSorted()).toEqual(['+14155550123', '+14155550124'])
  })

  it('skips invalid numbers and reports them', () => {
    const env = { HEALTH_ALERT_SMS_TO: '+14155550123, 4155550124, +0123456789, +1415555012x' }
    expect(targetsOf(env)).toHaveLength(1)
    expect(findSettingProblems(smsChannel.settings, env)).toEqual([
      {
        name: 'HEALTH_ALERT_SMS_TO',
        sentence: 'must be comma-separated E.164 numbers such as +14155550123, at most 20',
      },
    ])
  })

  it('never shows a complete number', () => {
    const [target] = targetsOf({})
    expect(target?.name).toBe('sms to …23')
    expect(target?.id).toMatch(/^[0-9a-f]{32}$/)
  })

  it.each([
    ['MG0123456789abcdef0123456789abcdef', 'MessagingServiceSid'],
    ['+14155550999', 'From'],
    ['Watchhouse', 'From'],
    ['72345', 'From'],
  ])('sends from %s as %s', async (from, field) => {
    const message = createMessage({ severity: 'critical' })
    await sendOnce({ channel: smsChannel, rig: smsRig, server, message, env: { HEALTH_ALERT_SMS_FROM: from } })
    const [requested] = server.received
    expect(new URLSearchParams(requested?.text).get(field)).toBe(from)
  })

  it.each([
    [400, 21211, 'permanent'],
    [400, 21610, 'permanent'],
    [401, 20003, 'config'],
    [400, 21606, 'config'],
    [429, 20429, 'retry'],
    [400, 21611, 'retry'],
    [400, 30001, 'retry'],
    [500, 20500, 'retry'],
  ])('classifies %s with code %s as %s', async (status, code, kind) => {
    server.next({ status, body: JSON.stringify({ code, message: 'no', status }) })
    const message = createMessage({ severity: 'critical' })
    expect((await sendOnce({ channel: smsChannel, rig: smsRig, server, message })).kind).toBe(kind)
  })
})
