import { describe, expect, it } from 'vitest'
import { findSettingProblems } from '#shared/config/setting.ts'
import { emailChannel } from '../email.ts'
import { parseMailAddress, formatMailAddress, parseMailProvider } from './mail.ts'

describe('the mail provider', () => {
  it.each([
    ['mail-api-a://key-1@mg.example.com', { kind: 'mail-api-a', key: 'key-1', domain: 'mg.example.com', region: 'us' }],
    ['mail-api-a://key-1@mg.example.com?region=eu', { kind: 'mail-api-a', region: 'eu' }],
    ['mail-api-b://re_AbC_123', { kind: 'mail-api-b', key: 're_AbC_123' }],
    [
      'smtp://user:pass@mail.example:2525',
      { host: 'mail.example', port: 2525, isSecure: false, login: { user: 'user', pass: 'pass' } },
    ],
    ['smtp://a%40b:p%40ss%2Fword@mail.example', { port: 587, login: { user: 'a@b', pass: 'p@ss/word' } }],
    ['smtp://user:100%@mail.example', { login: { user: 'user', pass: '100%' } }],
    ['smtps://user:pass@mail.example', { port: 465, isSecure: true }],
    ['smtp://mail.example:25', { port: 25, login: null }],
    ['smtp://user:pass@[::1]:25', { host: '::1' }],
  ])('is parsed from %s', (text, provider) => {
    expect(parseMailProvider(text)).toMatchObject(provider)
  })

  it.each([
    'mail.example',
    'https://key@mg.example.com',
    'mail-api-a://mg.example.com',
    'mail-api-a://key@mg.example.com?region=mars',
    'mail-api-a://key@a%2Fb',
    'mail-api-b://',
    'smtp://',
    'smtp://user:pass@mail.example:99999',
  ])('is rejected in %s, which disables mail', (text) => {
    expect(parseMailProvider(text)).toBeUndefined()
    const [problem] = findSettingProblems(emailChannel.settings, { HEALTH_ALERT_EMAIL_PROVIDER_URL: text })
    expect(problem?.sentence).toMatch(/^must be mail-api-a:\/\/KEY@DOMAIN, .* or smtps:\/\/USER:PASSWORD@HOST:PORT$/)
  })
})

describe('a mail address', () => {
  it.each([
    ['a@b.example', { name: '', address: 'a@b.example' }, 'a@b.example'],
    ['Team Ä <a+x@b.example>', { name: 'Team Ä', address: 'a+x@b.example' }, '"Team Ä" <a+x@b.example>'],
    ['<a@b.example>', { name: '', address: 'a@b.example' }, 'a@b.example'],
  ])('is parsed from %s', (text, address, written) => {
    expect(parseMailAddress(text)).toEqual(address)
    expect(formatMailAddress(address)).toBe(written)
  })

  it.each([
    'no-address',
    'a@',
    '@b.example',
    'a@b@c',
    'a@b.example>',
    'a b@c.example',
    'x\r\nBcc: y@z <a@b.example>',
    'a@b.example\r\nBcc: y@z',
    'x" <y@z>, "w <a@b.example>',
    'a@b.example,c@d.example',
  ])('is rejected in %j', (text) => {
    expect(parseMailAddress(text)).toBeUndefined()
  })
})
