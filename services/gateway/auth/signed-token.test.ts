import { createHmac } from 'node:crypto'
import { createLocalJWKSet, exportSPKI, importJWK, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { openSigningKeys, type SigningKeys } from '../testing/signing-keys.ts'
import { verifyToken } from './signed-token.ts'

const nowMs = Date.UTC(2026, 0, 1)
const now = nowMs / 1000
const issuer = 'https://clerk.example.com'
const good: JWTPayload = { iss: issuer, aud: ['watchhouse'], sub: 'ada', iat: now, nbf: now, exp: now + 60 }

let keys: SigningKeys
beforeAll(async () => {
  keys = await openSigningKeys()
})

const read = async (token: string, audience?: string) =>
  verifyToken(token, { keys: createLocalJWKSet(keys.published()), issuer, nowMs, ...(audience && { audience }) })

const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('a signed token', () => {
  it('returns the signed claims', async () => {
    expect(await read(await keys.sign(good), 'watchhouse')).toMatchObject({ sub: 'ada' })
  })

  it.each<[boolean, string, JWTPayload]>([
    [false, 'expired eleven seconds ago', { ...good, exp: now - 11 }],
    [true, 'expired nine seconds ago, by a clock that may differ', { ...good, exp: now - 9 }],
    [false, 'begins in eleven seconds', { ...good, nbf: now + 11 }],
    [true, 'begins in nine seconds, by a clock that may differ', { ...good, nbf: now + 9 }],
    [false, 'never expires', { iss: issuer, aud: 'watchhouse', sub: 'ada' }],
    [false, 'is of another issuer', { ...good, iss: 'https://clerk.evil.example' }],
    [false, 'has an issuer that only begins alike', { ...good, iss: `${issuer}/` }],
    [false, 'is of no issuer', { aud: 'watchhouse', sub: 'ada', exp: now + 60 }],
    [false, 'is for another audience', { ...good, aud: ['other'] }],
    [true, 'is for this audience among others', { ...good, aud: ['other', 'watchhouse'] }],
    [false, 'has no audience', { iss: issuer, sub: 'ada', exp: now + 60 }],
  ])('is accepted: %s, when it %s', async (holds, _what, claims) => {
    expect((await read(await keys.sign(claims), 'watchhouse')) !== undefined).toBe(holds)
  })

  it('is rejected when it is an OAuth access token of the same issuer', async () => {
    expect(await read(await keys.sign(good, { typ: 'at+jwt' }))).toBeUndefined()
  })

  it('is rejected without a signature', async () => {
    const unsigned = new UnsecuredJWT(good).encode()
    expect(await read(unsigned)).toBeUndefined()
    const { kid } = keys.current()
    expect(await read(`${base64url({ alg: 'none', kid })}.${base64url(good)}.`)).toBeUndefined()
  })

  it('is rejected when the public key was used as an HMAC secret', async () => {
    const jwk = keys.current()
    const publicKey = await importJWK(jwk, 'RS256', { extractable: true })
    if (publicKey instanceof Uint8Array) throw new Error('the public key is a secret')
    for (const secret of [await exportSPKI(publicKey), JSON.stringify(jwk), jwk.n ?? '']) {
      const signed = `${base64url({ alg: 'HS256', typ: 'JWT', kid: jwk.kid })}.${base64url(good)}`
      const signature = createHmac('sha256', secret).update(signed).digest('base64url')
      expect(await read(`${signed}.${signature}`)).toBeUndefined()
      expect(
        await read(await new SignJWT(good).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(secret))),
      ).toBeUndefined()
    }
  })

  it('is rejected when another key with the same id signed it', async () => {
    const others = await openSigningKeys()
    expect(await read(await others.sign(good))).toBeUndefined()
  })

  it('is rejected when it contains its own key', async () => {
    const others = await openSigningKeys()
    const token = await others.sign(good)
    const [, payload = '', signature = ''] = token.split('.')
    const header = base64url({
      alg: 'RS256',
      kid: keys.current().kid,
      jwk: others.current(),
      jku: 'https://evil.example',
    })
    expect(await read(`${header}.${payload}.${signature}`)).toBeUndefined()
  })

  it.each([
    ['changed', (token: string) => token.replace(/\.[^.]+\./, `.${base64url({ ...good, sub: 'root' })}.`)],
    ['cut', (token: string) => token.slice(0, -5)],
    ['without a signature', (token: string) => token.slice(0, token.lastIndexOf('.') + 1)],
    ['too long', (token: string) => `${token}${'a'.repeat(8_192)}`],
    ['no token', () => 'a.b.c'],
    ['empty', () => ''],
  ])('is rejected when it is %s', async (_how, change) => {
    expect(await read(change(await keys.sign(good)))).toBeUndefined()
  })
})
