import { describe, expect, it } from 'vitest'
import { RequestFailure } from '#lib/api/failure.ts'
import { connectionAdvice, outcomeOf, refusal } from './connection-advice.ts'

it.each([
  ['unreachable', 'https://one:8123', /without TLS the address begins with http:/],
  ['unreachable', 'http://one:9000', /9000 is for native clients/],
  ['timeout', 'http://one', /firewall/],
  ['refused', 'http://one', /user and password/],
  ['garbage', 'http://one:8443', /begins with https:/],
  ['garbage', 'https://one:443', /^Check the port\.$/],
  ['statement', 'http://one', /^$/],
] as const)('advises who finds %s at %s', (reason, url, advice) =>
  expect(connectionAdvice(reason, url)).toMatch(advice),
)

it('says of an attempt what came of it', () => {
  expect(
    outcomeOf({ ok: true, version: '26.7', hostname: 'one', uptimeSeconds: 1, timezone: 'UTC' }, 'http://one'),
  ).toEqual({
    isGood: true,
    message: 'It answers: ClickHouse 26.7, one.',
    advice: '',
  })
  expect(outcomeOf({ ok: false, reason: 'refused', message: 'no' }, 'http://one')).toMatchObject({
    isGood: false,
    message: 'no',
    advice: expect.stringContaining('Check user and password'),
  })
})

describe('what is not even tried', () => {
  const refused = (parameter: string, message: string) =>
    new RequestFailure({
      status: 400,
      type: 'invalid',
      message: `${parameter} ${message}`,
      details: { parameter, problems: [{ parameter, message }] },
    })

  it('is told of the address in words of the form, with who may open private networks', () => {
    const { message, advice } = refusal(refused('url', 'leads nowhere that this installation may connect to'))
    expect(message).toBe('The address leads nowhere that this installation may connect to')
    expect(advice).toContain('SVC_ALLOW_PRIVATE_HOSTS')
    expect(refusal(refused('url', 'must begin with http:// or https://'))).toMatchObject({
      message: 'The address must begin with http:// or https://',
      advice: '',
    })
  })

  it('is told as it was said otherwise', () => {
    expect(refusal(refused('name', 'is too long')).message).toBe('name is too long')
    expect(refusal(new Error('away')).message).toBe('away')
  })
})
