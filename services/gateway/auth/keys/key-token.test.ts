import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ApiKeyClaims, verifyKeySignature, signApiKey } from './key-token.ts'

const secret = 'correct horse battery staple'
const claims: ApiKeyClaims = {
  jti: 'AAAAaaaa0000-_zZ',
  sub: 'ada',
  label: 'Adas Läptöp',
  scopes: ['read', 'agent'],
  iat: 1_700_000_000,
  exp: 1_700_086_400,
}
const key = signApiKey(claims, secret)
const only = { current: secret, previous: undefined }

const base64url = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
const signed = (payload: string, by = secret): string =>
  `svc_${payload}.${createHmac('sha256', by).update(payload).digest('base64url')}`

describe('a key', () => {
  it('is svc_, its claims in base64url, a dot and their HMAC-SHA-256', () => {
    expect(key).toBe(signed(base64url(claims)))
    expect(verifyKeySignature(key, only)).toEqual(claims)
  })

  it('is verified with the previous secret too', () => {
    expect(verifyKeySignature(key, { current: 'new', previous: secret })).toEqual(claims)
    expect(verifyKeySignature(key, { current: 'new', previous: 'another' })).toBeUndefined()
    expect(verifyKeySignature(key, { current: 'new', previous: undefined })).toBeUndefined()
  })

  it('is rejected after a change of any character', () => {
    fc.assert(
      fc.property(fc.nat(key.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (at, character) => {
        fc.pre(key[at] !== character)
        expect(verifyKeySignature(key.slice(0, at) + character + key.slice(at + 1), only)).toBeUndefined()
      }),
    )
  })

  it('is rejected when truncated or extended', () => {
    for (let length = 0; length < key.length; length += 1)
      expect(verifyKeySignature(key.slice(0, length), only)).toBeUndefined()
    for (const added of [`${key}=`, `${key}.`, `${key}\n`, ` ${key}`, `${key}.${key}`])
      expect(verifyKeySignature(added, only)).toBeUndefined()
  })
})

const [payload = '', signature = ''] = key.slice('svc_'.length).split('.')
const others: [what: string, token: string][] = [
  ['nothing', ''],
  ['its prefix alone', 'svc_'],
  ['no payload', `svc_.${signature}`],
  ['no signature', `svc_${payload}.`],
  ['another prefix', `key_${payload}.${signature}`],
  ['upper case', key.toUpperCase()],
  ['the signature of another payload', `svc_${base64url({ ...claims, exp: claims.exp + 1 })}.${signature}`],
  ['the signature of another secret', signed(payload, 'wrong')],
  ['the signature of an empty secret', signed(payload, '')],
  ['another text of the same signature bytes', `svc_${payload}.${sameBytes(signature)}`],
  ['a payload that is no JSON', signed(base64url('{'))],
  ['a payload that is null', signed(base64url(null))],
  ['no id', signed(base64url({ ...claims, jti: undefined }))],
  ['an id that is a path', signed(base64url({ ...claims, jti: '../../etc/passwd' }))],
  ['no end', signed(base64url({ ...claims, exp: undefined }))],
  ['an end in words', signed(base64url({ ...claims, exp: 'never' }))],
  ['no scopes', signed(base64url({ ...claims, scopes: [] }))],
  ['a megabyte', signed(base64url('x'.repeat(1_048_576)))],
]

/** Returns a different text that decodes to the same bytes: decoders ignore the last two bits of 43 characters. */
function sameBytes(text: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const twin = text.slice(0, -1) + alphabet[alphabet.indexOf(text.at(-1) ?? '') + 1]
  expect(Buffer.from(twin, 'base64url')).toEqual(Buffer.from(text, 'base64url'))
  return twin
}

it.each(others)('%s is not a valid key', (_what, token) => {
  expect(verifyKeySignature(token, only)).toBeUndefined()
})
