import { describe, expect, it } from 'vitest'
import { RequestFailure } from '#lib/api/failure.ts'
import { getConnectionAdvice, toTestOutcome, toRejectionOutcome } from './connection-advice.ts'

it.each([
  ['unreachable', 'https://one:8123', /without TLS, use http:/],
  ['unreachable', 'http://one:9000', /port 9000 is the native protocol/],
  ['timeout', 'http://one', /firewall/],
  ['refused', 'http://one', /user and the password/],
  ['garbage', 'http://one:8443', /use https:/],
  ['garbage', 'https://one:443', /^Check the port\.$/],
  ['statement', 'http://one', /^$/],
] as const)('gives advice for %s at %s', (reason, url, advice) =>
  expect(getConnectionAdvice(reason, url)).toMatch(advice),
)

it('describes the outcome of a test', () => {
  expect(
    toTestOutcome({ ok: true, version: '26.7', hostname: 'one', uptimeSeconds: 1, timezone: 'UTC' }, 'http://one'),
  ).toEqual({
    isGood: true,
    message: 'Connected: ClickHouse 26.7, one.',
    advice: '',
  })
  expect(toTestOutcome({ ok: false, reason: 'refused', message: 'no' }, 'http://one')).toMatchObject({
    isGood: false,
    message: 'no',
    advice: expect.stringContaining('Check the user and the password'),
  })
})

describe('rejected address', () => {
  const rejected = (parameter: string, message: string) =>
    new RequestFailure({
      status: 400,
      type: 'invalid',
      message: `${parameter} ${message}`,
      details: { parameter, problems: [{ parameter, message }] },
    })

  it('explains the problem and how to allow private networks', () => {
    const { message, advice } = toRejectionOutcome(
      rejected('url', 'is not an address that this installation may connect to'),
    )
    expect(message).toBe('The URL is not an address that this installation may connect to')
    expect(advice).toContain('SVC_ALLOW_PRIVATE_HOSTS')
    expect(toRejectionOutcome(rejected('url', 'must begin with http:// or https://'))).toMatchObject({
      message: 'The URL must begin with http:// or https://',
      advice: '',
    })
  })

  it('shows other errors unchanged', () => {
    expect(toRejectionOutcome(rejected('name', 'is too long')).message).toBe('name is too long')
    expect(toRejectionOutcome(new Error('unavailable')).message).toBe('unavailable')
  })
})
