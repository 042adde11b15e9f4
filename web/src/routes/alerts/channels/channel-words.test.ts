import { describe, expect, it } from 'vitest'
import type { AlertTarget } from '#lib/api/alerting.ts'
import { channelWords, fieldLabel, standingOf, testedWords } from './channel-words.ts'

const target = (broken: AlertTarget['broken']): AlertTarget => ({
  channel: 'webhook',
  id: 'default',
  name: 'webhook',
  minSeverity: null,
  failures: 0,
  broken,
  last: null,
})

describe('fields', () => {
  it.each([
    ['url', 'URL'],
    ['routingKey', 'Routing key'],
    ['accountSid', 'Account SID'],
    ['providerUrl', 'Provider URL'],
  ])('%s is called %s', (field, label) => {
    expect(fieldLabel(field)).toBe(label)
  })
})

describe('a channel', () => {
  it.each([
    [{ configured: false, enabled: false }, [], 'missing'],
    [{ configured: true, enabled: false }, [], 'off'],
    [{ configured: true, enabled: true }, [target(null)], 'ready'],
    [{ configured: true, enabled: true }, [target(null), target({ reason: '404', sinceMs: 1 })], 'broken'],
  ] as const)('%o with targets %o is %s', (channel, targets, standing) => {
    expect(standingOf(channel, targets)).toBe(standing)
  })

  it('of a newer service goes by its id', () => {
    expect(channelWords('pigeon').name).toBe('pigeon')
  })
})

describe('a test', () => {
  it.each([
    [{ name: 'webhook', result: 'ok', reason: null }, 'webhook: arrived'],
    [{ name: 'ops', result: 'permanent', reason: 'status 404' }, 'ops: was refused – status 404'],
    [{ name: 'ops', result: 'sung', reason: null }, 'ops: sung'],
  ])('that ended as %o is told as %s', (tested, told) => {
    expect(testedWords(tested)).toBe(told)
  })
})
