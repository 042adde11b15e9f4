import { expect, it } from 'vitest'
import { connectionAdvice } from './connection-advice.ts'

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
