import { createClock } from '#shared/time/clock.ts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Identity } from '#proto/call.ts'
import { ErrorResponse } from '#proto/http/response.ts'
import { AuditResponse } from '#proto/http/audit.ts'
import { DeviceCodeResponse, DeviceStatusResponse, OAuthErrorResponse, TokenResponse } from '#proto/http/auth.ts'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'
import { anonymousCaller } from '../auth/identity.ts'

const secret = 'operator secret'
const grantType = 'urn:ietf:params:oauth:grant-type:device_code'
const ada: Identity = { kind: 'user', subject: 'ada', features: 'all' }
const often = { RATE_LIMIT_DEVICE_CODE_PER_MIN: '1000000' }

let product: FakeProduct
let nowMs: number
let signedIn: Identity | undefined
const clock = createClock(() => nowMs)
beforeAll(async () => {
  nowMs = Date.UTC(2026, 5, 1)
  // The provider is replaced by `identify`, so that the test defines the signed-in user.
  const env = { ...often, SVC_API_KEY_SECRET: secret, SVC_DEVICE_LOGIN: 'true', SVC_AUTH_PROVIDER: 'idp' }
  product = await startFakeProduct({ env, clock, identify: async () => signedIn ?? anonymousCaller })
})
afterEach(() => {
  signedIn = undefined
})
afterAll(async () => product[Symbol.asyncDispose]())

const send = async (path: string, init: RequestInit, url = product.url) => {
  const response = await fetch(url + path, { method: 'POST', ...init })
  const body: unknown = await response.json()
  return { status: response.status, headers: response.headers, body, error: ErrorResponse.safeParse(body).data?.error }
}
const json = (body: unknown, authorization = '') => ({
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
})
const form = (fields: Record<string, string>) => ({ body: new URLSearchParams(fields) })

const begin = async (fields: Record<string, string> = {}, url = product.url) =>
  DeviceCodeResponse.parse((await send('/auth/device/code', form(fields), url)).body)
const exchange = (deviceCode: string, url = product.url) =>
  send('/auth/token', form({ grant_type: grantType, device_code: deviceCode }), url)
const errorOf = async (deviceCode: string) => OAuthErrorResponse.parse((await exchange(deviceCode)).body).error
const decide = (verb: 'approve' | 'deny', userCode: string, authorization = '', url = product.url) =>
  send(`/api/v1/auth/device/${verb}`, json({ user_code: userCode }, authorization), url)
const statusOf = (userCode: string) =>
  send(`/api/v1/auth/device/status?user_code=${encodeURIComponent(userCode)}`, { method: 'GET' })

describe('a device', () => {
  it('gets a user code and URL, by form and by JSON, under both paths', async () => {
    for (const path of ['/auth/device/code', '/api/v1/auth/device/code']) {
      for (const request of [form({ client_id: 'watch' }), json({ client_id: 'watch' }), json({}), {}]) {
        const { status, headers, body } = await send(path, request)
        const codes = DeviceCodeResponse.parse(body)
        expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
        expect(codes).toMatchObject({ expires_in: 900, interval: 10, verification_uri: `${product.url}/device` })
        expect(codes.verification_uri_complete).toBe(`${product.url}/device?user_code=${codes.user_code}`)
      }
    }
  })

  it('waits for approval by a user and gets one key of that user', async () => {
    const { device_code, user_code } = await begin({ client_id: 'watch', scope: 'read mcp' })
    expect(await errorOf(device_code)).toBe('authorization_pending')
    signedIn = ada
    expect(await decide('approve', user_code.toLowerCase())).toMatchObject({
      status: 200,
      body: { data: { approved: true, deviceOnly: false, subject: 'ada' } },
    })
    const { status, headers, body } = await exchange(device_code)
    const token = TokenResponse.parse(body)
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(token).toMatchObject({ token_type: 'Bearer', expires_in: 2_592_000, scope: 'read mcp' })
    expect(token.access_token).toMatch(/^svc_/)
    expect(await errorOf(device_code)).toBe('invalid_grant')
    const listed = await send('/api/v1/auth/api-keys', { method: 'GET' })
    expect(listed.body).toMatchObject({ data: [{ label: 'watch', subject: 'ada', scopes: ['read', 'mcp'] }] })
  })

  it('gets one key from two concurrent exchanges', async () => {
    const { device_code, user_code } = await begin()
    signedIn = ada
    await decide('approve', user_code)
    const answers = await Promise.all(Array.from({ length: 6 }, () => exchange(device_code)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400, 400, 400])
  })

  it('gets slow_down, access_denied and expired_token', async () => {
    const [hasty, denied, late] = [await begin(), await begin(), await begin()]
    expect([await errorOf(hasty.device_code), await errorOf(hasty.device_code)]).toEqual([
      'authorization_pending',
      'slow_down',
    ])
    signedIn = ada
    await decide('deny', denied.user_code)
    expect(await errorOf(denied.device_code)).toBe('access_denied')
    nowMs += 900_000
    expect(await errorOf(late.device_code)).toBe('expired_token')
    expect((await decide('approve', late.user_code)).status).toBe(410)
  })

  const known = { grant_type: grantType, device_code: 'x' }
  it.each<[what: string, path: string, request: RequestInit, status: number, error: string]>([
    ['no body', '/auth/token', {}, 400, 'invalid_request'],
    ['text', '/auth/token', { body: 'x' }, 415, 'invalid_request'],
    ['broken JSON', '/auth/token', { ...json({}), body: '{"' }, 400, 'invalid_request'],
    ['a form that is no UTF-8', '/auth/token', { ...form({}), body: 'a=%ff', ...formType() }, 400, 'invalid_request'],
    ['a huge form', '/auth/token', form({ device_code: 'x'.repeat(600_000) }), 413, 'invalid_request'],
    ['no grant type', '/auth/token', form({ device_code: 'x' }), 400, 'invalid_request'],
    ['two grant types', '/auth/token', { body: 'grant_type=a&grant_type=b', ...formType() }, 400, 'invalid_request'],
    ['another grant type', '/auth/token', form({ grant_type: 'password' }), 400, 'unsupported_grant_type'],
    ['no device code', '/auth/token', form({ grant_type: grantType }), 400, 'invalid_request'],
    ['a device code as a number', '/auth/token', json({ ...known, device_code: 1 }), 400, 'invalid_request'],
    ['a long device code', '/auth/token', json({ ...known, device_code: 'x'.repeat(129) }), 400, 'invalid_request'],
    ['an unknown device code', '/auth/token', form(known), 400, 'invalid_grant'],
    ['the short grant type', '/auth/token', form({ ...known, grant_type: 'device_code' }), 400, 'invalid_grant'],
    ['an odd client', '/auth/device/code', form({ client_id: '<b>' }), 400, 'invalid_request'],
    ['an unknown scope', '/auth/device/code', form({ scope: 'read admin' }), 400, 'invalid_scope'],
    ['a list', '/auth/device/code', json([]), 400, 'invalid_request'],
  ])('that sends %s gets an OAuth error', async (_what, path, request, status, error) => {
    const answer = await send(path, request)
    const failure = OAuthErrorResponse.parse(answer.body)
    expect([answer.status, failure.error]).toEqual([status, error])
    expect(failure.error_description).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]{10,300}$/)
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  it('gets slow_down with Retry-After when its address exceeds the limit', async () => {
    await using strict = await startFakeProduct({ env: { SVC_API_KEY_SECRET: secret, SVC_DEVICE_LOGIN: 'true' } })
    const { device_code } = await begin({}, strict.url)
    for (let poll = 0; poll < 9; poll += 1) expect((await exchange(device_code, strict.url)).status).toBe(400)
    const over = await exchange(device_code, strict.url)
    expect([over.status, OAuthErrorResponse.parse(over.body).error]).toEqual([429, 'slow_down'])
    expect(Number(over.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(over.headers.get('ratelimit-remaining')).toBe('0')
  })

  it.each([
    [{ SVC_API_KEY_SECRET: secret }, 'SVC_DEVICE_LOGIN'],
    [{ SVC_API_KEY_SECRET: secret, SVC_DEVICE_LOGIN: 'no' }, 'SVC_DEVICE_LOGIN'],
    [{ SVC_DEVICE_LOGIN: 'true' }, 'SVC_API_KEY_SECRET'],
  ])('gets an error while device login is disabled with %j', async (env, says) => {
    await using off = await startFakeProduct({ env: { ...env } })
    for (const path of ['/auth/device/code', '/auth/token']) {
      const answer = await send(path, json({ grant_type: grantType, device_code: 'x' }), off.url)
      const failure = OAuthErrorResponse.parse(answer.body)
      expect([answer.status, failure.error]).toEqual([503, 'temporarily_unavailable'])
      expect(failure.error_description).toContain(says)
    }
  })
})

describe('a user', () => {
  it('sees the request of a code before and after the decision', async () => {
    const { user_code, device_code } = await begin({ client_id: 'watch', scope: 'read' })
    signedIn = ada
    const seen = async () => DeviceStatusResponse.parse((await statusOf(user_code)).body).data
    expect(await seen()).toMatchObject({ state: 'pending', clientId: 'watch', scopes: ['read'] })
    await decide('approve', user_code)
    expect((await seen()).state).toBe('approved')
    await exchange(device_code)
    expect((await seen()).state).toBe('used')
    const { user_code: forgotten } = await begin()
    nowMs += 900_000
    expect(DeviceStatusResponse.parse((await statusOf(forgotten)).body).data.state).toBe('expired')
  })

  it('is audited with the decision', async () => {
    const { user_code } = await begin()
    signedIn = { ...ada, subject: 'barbara' }
    await decide('deny', user_code)
    const { data } = AuditResponse.parse((await send('/api/v1/audit?subject=barbara', { method: 'GET' })).body)
    const actor = { kind: 'user', subject: 'barbara' }
    expect(data).toMatchObject([{ action: 'deny-device', actor, target: { userCode: user_code }, result: 'done' }])
  })

  it('decides once', async () => {
    const { user_code } = await begin()
    signedIn = { ...ada, subject: 'grace' }
    expect((await decide('deny', user_code)).status).toBe(200)
    expect((await decide('approve', user_code)).error).toMatchObject({ type: 'conflict' })
  })

  it.each<[what: string, body: unknown, status: number, says: string]>([
    ['no code', {}, 400, 'user_code is required'],
    ['a code of vowels', { user_code: 'AEIO-UAEI' }, 400, 'eight letters'],
    ['a number', { user_code: 12345678 }, 400, 'user_code must be'],
    ['a long text', { user_code: 'B'.repeat(33) }, 400, '32 characters'],
    ['more than a code', { user_code: 'BBBB-BBBB', subject: 'root' }, 400, 'subject is unknown'],
    ['an unknown code', { user_code: 'BBBB-BBBB' }, 404, 'unknown code'],
  ])('who sends %s gets an error', async (_what, body, status, says) => {
    signedIn = { ...ada, subject: 'linus' }
    const answer = await send('/api/v1/auth/device/approve', json(body))
    expect([answer.status, answer.error?.message]).toEqual([status, expect.stringContaining(says)])
  })

  it('may guess 20 times, independently of other users', async () => {
    signedIn = { ...ada, subject: 'mallory' }
    const guess = async () => (await decide('approve', 'BBBB-BBBB')).status
    for (let time = 0; time < 20; time += 1) expect(await guess()).toBe(404)
    expect(await guess()).toBe(429)
    signedIn = { ...ada, subject: 'trent' }
    expect(await guess()).toBe(404)
  })

  it.each<[who: string, identity: Identity, authorization: string, status: number]>([
    ['a stranger', anonymousCaller, '', 401],
    ['a guest', { kind: 'guest', subject: 'g', features: 'all' }, '', 401],
    ['a key', { kind: 'key', subject: 'ada', features: 'all', scopes: ['write'] }, '', 403],
    ['the operator, for whom people stand in', anonymousCaller, `Bearer ${secret}`, 401],
  ])('cannot be %s', async (_who, identity, authorization, status) => {
    const { user_code } = await begin()
    signedIn = identity
    expect((await decide('approve', user_code, authorization)).status).toBe(status)
    expect((await decide('deny', user_code, authorization)).status).toBe(status)
    expect((await statusOf(user_code)).status).toBe(status)
  })
})

describe('the operator', () => {
  it('approves without an identity provider, for the configured subject', async () => {
    const env = { ...often, SVC_API_KEY_SECRET: secret, SVC_DEVICE_LOGIN: 'true', SVC_DEVICE_LOGIN_SUBJECT: 'ops' }
    await using alone = await startFakeProduct({ env })
    const { device_code, user_code } = await begin({}, alone.url)
    expect((await decide('approve', user_code, '', alone.url)).status).toBe(401)
    expect((await decide('approve', user_code, 'Bearer no', alone.url)).status).toBe(401)
    const approved = await decide('approve', user_code, `Bearer ${secret}`, alone.url)
    expect(approved).toMatchObject({ status: 200, body: { data: { deviceOnly: true, subject: 'ops' } } })
    const token = TokenResponse.parse((await exchange(device_code, alone.url)).body)
    const me = await fetch(`${alone.url}/api/v1/hosts`, { headers: { authorization: `Bearer ${token.access_token}` } })
    expect(me.status).toBe(200)
    const key = await decide('approve', user_code, `Bearer ${token.access_token}`, alone.url)
    expect(key.status).toBe(403)
    const logged = alone.logged.join('\n')
    for (const hidden of [secret, device_code, token.access_token]) expect(logged).not.toContain(hidden)
  })
})

/** Returns the request options for a form body that is passed as text. */
function formType(): { headers: Record<string, string> } {
  return { headers: { 'content-type': 'application/x-www-form-urlencoded' } }
}
