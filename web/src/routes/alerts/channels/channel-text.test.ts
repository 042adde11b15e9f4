import { describe, expect, it } from 'vitest'
import type { AlertTarget } from '#lib/api/alerting.ts'
import { findChannelWords, formatFieldLabel, getChannelState, describeTestResult } from './channel-text.ts'

const target = (broken: AlertTarget['broken']): AlertTarget => ({
  channel: 'webhook',
  id: 'default',
  name: 'webhook',
  minSeverity: null,
  failures: 0,
  broken,
  last: null,
})

describe('channel fields', () => {
  it.each([
    ['url', 'URL'],
    ['routingKey', 'Routing key'],
    ['accountSid', 'Account SID'],
    ['providerUrl', 'Provider URL'],
  ])('label %s as %s', (field, label) => {
    expect(formatFieldLabel(field)).toBe(label)
  })
})

describe('channel', () => {
  it.each([
    [{ configured: false, enabled: false }, [], 'missing'],
    [{ configured: true, enabled: false }, [], 'off'],
    [{ configured: true, enabled: true }, [target(null)], 'ready'],
    [{ configured: true, enabled: true }, [target(null), target({ reason: '404', sinceMs: 1 })], 'broken'],
  ] as const)('%o with targets %o is %s', (channel, targets, standing) => {
    expect(getChannelState(channel, targets)).toBe(standing)
  })

  it('is named by its id if unknown', () => {
    expect(findChannelWords('pigeon').name).toBe('pigeon')
  })
})

describe('channel test', () => {
  it.each([
    [{ name: 'webhook', result: 'ok', reason: null }, 'webhook: delivered'],
    [{ name: 'ops', result: 'permanent', reason: 'status 404' }, 'ops: rejected – status 404'],
    [{ name: 'ops', result: 'sung', reason: null }, 'ops: sung'],
  ])('with result %o is described as %s', (result, text) => {
    expect(describeTestResult(result)).toBe(text)
  })
})
