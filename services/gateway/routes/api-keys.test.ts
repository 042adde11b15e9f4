import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Identity } from '#proto/call.ts'
import { ErrorResponse } from '#proto/http/response.ts'
import { AuditResponse } from '#proto/http/audit.ts'
import { ApiKeyResponse, ApiKeysResponse } from '#proto/http/auth.ts'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'
import { anonymousCaller } from '../auth/identity.ts'

const secret = 'operator/secret=with+every~kind.of-character'
const operator = `Bearer ${secret}`
const person = (subject: string): Identity => ({ kind: 'user', subject, features: 'all' })

let product: FakeProduct
/** The signed-in caller, for tests with users. */
let signedIn: Identity | undefined
let people: FakeProduct
beforeAll(async () => {
  const env = { SVC_API_KEY_SECRET: secret }
  product = await startFakeProduct({ env })
  people = await startFakeProduct({ env, identify: async () => signedIn ?? anonymousCaller })
})
afterEach(() => {
  signedIn = undefined
})
afterAll(async () => {
  await product[Symbol.asyncDispose]()
  await people[Symbol.asyncDispose]()
})

interface RequestOptions {
  method?: string
  url?: string
  authorization?: string
  key?: string
  body?: unknown
}

const send = async (
  path: string,
  { method = 'GET', url = product.url, authorization, key, body }: RequestOptions = {},
) => {
  const headers = {
    'content-type': 'application/json',
    ...(authorization && { authorization }),
    ...(key && { 'x-api-key': key }),
  }
  const response = await fetch(url + path, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const answered: unknown = await response.json()
  const error = ErrorResponse.safeParse(answered).data?.error
  return { status: response.status, headers: response.headers, body: answered, error }
}

const issue = async (body: unknown, url = product.url) => {
  const answer = await send('/api/v1/auth/api-key', { method: 'POST', url, authorization: operator, body })
  expect(answer.status).toBe(200)
  return ApiKeyResponse.parse(answer.body).data
}
const list = async (request: RequestOptions) =>
  ApiKeysResponse.parse((await send('/api/v1/auth/api-keys', request)).body).data

describe('POST /api/v1/auth/api-key', () => {
  it('issues a key that is accepted in both headers', async () => {
    const { apiKey, ...facts } = await issue({ label: 'ci', days: 7, scopes: ['read'] })
    expect(apiKey).toMatch(/^svc_[\w-]+\.[\w-]{43}$/)
    expect(facts).toMatchObject({ label: 'ci', subject: `key:${facts.id}`, scopes: ['read'], expiresInDays: 7 })
    for (const credentials of [
      { authorization: `Bearer ${apiKey}` },
      { authorization: `bearer ${apiKey}` },
      { key: apiKey },
    ])
      expect((await send('/api/v1/hosts', credentials)).status).toBe(200)
    expect((await send('/api/v1/hosts')).status).toBe(401)
  })

  it('defaults to 30 days and every scope, and trims the label', async () => {
    const { label, scopes, expiresInDays, expiresAt } = await issue({ label: '  my laptop ' })
    expect({ label, scopes, expiresInDays }).toEqual({
      label: 'my laptop',
      scopes: ['read', 'write', 'agent', 'mcp'],
      expiresInDays: 30,
    })
    expect((Date.parse(expiresAt) - Date.now()) / 86_400_000).toBeCloseTo(30, 2)
  })

  it.each([
    ['nothing', undefined],
    ['another secret', 'Bearer no'],
    ['a part of it', operator.slice(0, -1)],
    ['it and more', `${operator}x`],
    ['another scheme', `Basic ${secret}`],
    ['no scheme', secret],
    ['only a scheme', 'Bearer'],
  ])('rejects %s', async (_what, authorization) => {
    const { status, headers, body, error } = await send('/api/v1/auth/api-key', {
      method: 'POST',
      body: { label: 'ci' },
      ...(authorization && { authorization }),
    })
    expect([status, error?.type]).toEqual([401, 'unauthenticated'])
    expect(headers.get('www-authenticate')).toContain('Bearer')
    expect(JSON.stringify(body)).not.toContain(secret)
  })

  it('rejects API keys and the previous secret', async () => {
    await using rotated = await startFakeProduct({
      env: { SVC_API_KEY_SECRET: 'new', SVC_API_KEY_SECRET_PREVIOUS: secret },
    })
    const { apiKey } = await issue({ label: 'ci' })
    const request = { method: 'POST', body: { label: 'ci' } }
    expect((await send('/api/v1/auth/api-key', { ...request, authorization: `Bearer ${apiKey}` })).status).toBe(401)
    expect((await send('/api/v1/auth/api-key', { ...request, url: rotated.url, authorization: operator })).status).toBe(
      401,
    )
    expect((await send('/api/v1/hosts', { url: rotated.url, key: apiKey })).status).toBe(200)
    delete rotated.env.SVC_API_KEY_SECRET_PREVIOUS
    expect((await send('/api/v1/hosts', { url: rotated.url, key: apiKey })).status).toBe(401)
  })

  it.each<[body: unknown, parameter: string, says: string]>([
    [{}, 'label', 'is required'],
    [{ label: 1 }, 'label', 'must be text'],
    [{ label: '   ' }, 'label', 'must not be empty'],
    [{ label: 'x'.repeat(65) }, 'label', '64'],
    [{ label: 'a\nb' }, 'label', 'control characters'],
    [{ label: 'a', days: 0 }, 'days', 'from 1 to 365'],
    [{ label: 'a', days: 366 }, 'days', 'from 1 to 365'],
    [{ label: 'a', days: 1.5 }, 'days', 'whole number'],
    [{ label: 'a', days: '30' }, 'days', 'must be a number'],
    [{ label: 'a', days: null }, 'days', 'must be a number'],
    [{ label: 'a', scopes: [] }, 'scopes', 'at least one'],
    [{ label: 'a', scopes: ['admin'] }, 'scopes.0', 'must be one of read, write, agent, mcp'],
    [{ label: 'a', scopes: 'read' }, 'scopes', 'must be a list'],
    [{ label: 'a', scopes: ['read', 'read', 'read', 'read', 'read'] }, 'scopes', 'each scope once'],
    [{ label: 'a', subject: 'root' }, 'subject', 'is unknown'],
    [[], 'the body', 'must be an object'],
  ])('rejects %j', async (body, parameter, says) => {
    const answer = await send('/api/v1/auth/api-key', { method: 'POST', authorization: operator, body })
    expect([answer.status, answer.error?.type]).toEqual([400, 'invalid'])
    expect(answer.error?.details?.problems).toContainEqual({ parameter, message: expect.stringContaining(says) })
  })

  it.each([
    ['fifteen letters', true],
    ['sixteen letters!', false],
  ])('logs a warning about the secret %j: %s', async (given, warned) => {
    await using started = await startFakeProduct({ env: { SVC_API_KEY_SECRET: given } })
    const warnings = started.logged.filter((line) => line.includes('fewer than 16 characters'))
    expect(warnings).toHaveLength(warned ? 1 : 0)
    expect(started.logged.join('')).not.toContain(given)
  })

  it('returns 503 and names the missing setting while no secret is set', async () => {
    await using off = await startFakeProduct()
    for (const path of ['/api/v1/auth/api-key', '/api/v1/auth/api-keys', '/api/v1/auth/api-keys/AAAAAAAAAAAAAAAA']) {
      const method = path.endsWith('key') ? 'POST' : path.endsWith('keys') ? 'GET' : 'DELETE'
      const body = method === 'POST' ? { label: 'ci' } : undefined
      const answer = await send(path, { method, url: off.url, authorization: 'Bearer undefined', body })
      expect([answer.status, answer.error?.message]).toEqual([503, expect.stringContaining('SVC_API_KEY_SECRET')])
    }
  })
})

describe('issued keys', () => {
  it('are rejected when forged, truncated or signed with another secret, and never logged', async () => {
    const { apiKey } = await issue({ label: 'ci' })
    await using other = await startFakeProduct({ env: { SVC_API_KEY_SECRET: 'another' } })
    const foreign = await send('/api/v1/hosts', { url: other.url, key: apiKey })
    const [payload = ''] = apiKey.split('.')
    const forged = [`${payload}.${'A'.repeat(43)}`, payload, apiKey.slice(0, -1), `${apiKey}A`, 'svc_', 'x']
    const answers = await Promise.all(forged.map((key) => send('/api/v1/hosts', { key })))
    expect([foreign, ...answers].map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 401, 401])
    const logged = [...product.logged, ...other.logged].join('\n')
    for (const hidden of [payload, secret]) expect(logged).not.toContain(hidden)
  })

  it('are listed to the operator with their last use, never in full', async () => {
    const { apiKey, id } = await issue({ label: 'used' })
    await send('/api/v1/hosts', { key: apiKey })
    const keys = await list({ authorization: operator })
    const found = keys.find((key) => key.id === id)
    expect(found).toMatchObject({ label: 'used', revokedAt: null })
    expect(found?.lastUsedAt).not.toBeNull()
    expect(JSON.stringify(keys)).not.toContain(apiKey.split('.')[1])
  })

  it('are rejected immediately after revocation', async () => {
    const { apiKey, id } = await issue({ label: 'leaked' })
    expect((await send('/api/v1/hosts', { key: apiKey })).status).toBe(200)
    const revoked = await send(`/api/v1/auth/api-keys/${id}`, { method: 'DELETE', authorization: operator })
    expect(revoked).toMatchObject({ status: 200, body: { data: { id, revokedAt: expect.any(String) } } })
    expect((await send('/api/v1/hosts', { key: apiKey })).status).toBe(401)
  })

  it('are audited when issued and revoked, never in full', async () => {
    const { apiKey, id } = await issue({ label: 'on record', days: 3, scopes: ['write'] })
    await send(`/api/v1/auth/api-keys/${id}`, { method: 'DELETE', authorization: operator })
    const reader = await issue({ label: 'reader' })
    const { data } = AuditResponse.parse((await send('/api/v1/audit?subject=operator', { key: reader.apiKey })).body)
    const actor = { kind: 'service', subject: 'operator' }
    const target = { label: 'on record', days: '3', scopes: 'write' }
    for (const action of [
      { action: 'issue-api-key', actor, target, result: 'done' },
      { action: 'revoke-api-key', actor, target: { id }, result: 'done' },
    ])
      expect(data).toContainEqual(expect.objectContaining(action))
    expect(JSON.stringify(data)).not.toContain(apiKey)
  })

  it.each([
    ['an unknown id', '/api/v1/auth/api-keys/AAAAAAAAAAAAAAAA', 404, 'unknown API key'],
    ['no id', '/api/v1/auth/api-keys/..%2F..%2Fx', 400, 'must be the id of a key'],
  ])('return an error when %s is revoked', async (_whose, path, status, says) => {
    const answer = await send(path, { method: 'DELETE', authorization: operator })
    expect([answer.status, answer.error?.message]).toEqual([status, expect.stringContaining(says)])
  })

  it('are listed and revoked by another key of the same subject with the required scopes', async () => {
    const all = await issue({ label: 'all' })
    const reading = await issue({ label: 'reading', scopes: ['read'] })
    const agent = await issue({ label: 'agent', scopes: ['agent'] })
    expect(await list({ key: all.apiKey })).toMatchObject([{ id: all.id }])
    expect((await send('/api/v1/auth/api-keys', { key: agent.apiKey })).status).toBe(403)
    const end = (id: string, key: string) => send(`/api/v1/auth/api-keys/${id}`, { method: 'DELETE', key })
    expect((await end(reading.id, reading.apiKey)).status).toBe(403)
    expect((await end(reading.id, all.apiKey)).status).toBe(404)
    expect((await end(all.id, all.apiKey)).status).toBe(200)
    expect((await send('/api/v1/hosts', { key: all.apiKey })).status).toBe(401)
  })

  it('cannot be listed or revoked by other users or anonymous callers', async () => {
    const { id } = await issue({ label: 'ci' }, people.url)
    const end = (own = {}) => send(`/api/v1/auth/api-keys/${id}`, { method: 'DELETE', url: people.url, ...own })
    expect((await end()).status).toBe(401)
    expect((await send('/api/v1/auth/api-keys', { url: people.url })).status).toBe(401)
    signedIn = person('eve')
    expect(await list({ url: people.url })).toEqual([])
    expect((await end()).status).toBe(404)
    signedIn = person(`key:${id}`)
    expect(await list({ url: people.url })).toHaveLength(1)
  })
})

describe('scopes', () => {
  const question = { method: 'POST', body: { names: ['query-count'] } }
  it.each([
    [['read'], 200],
    [['write'], 200],
    [['agent'], 403],
    [['mcp'], 403],
    [['agent', 'mcp', 'read'], 200],
  ])('%j returns %d for reads', async (scopes, status) => {
    const { apiKey } = await issue({ label: 'scoped', scopes })
    expect((await send('/api/v1/charts/batch', { ...question, key: apiKey })).status).toBe(status)
  })
})
