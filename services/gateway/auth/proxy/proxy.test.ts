import { createClock } from '#shared/time/clock.ts'
import type { JWTPayload } from 'jose'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AccessGateway, startAccessGateway } from '../../testing/identity-provider.ts'
import { type FakeProduct, startFakeProduct } from '../../testing/fake-product.ts'
import { signInRoutes } from '../../testing/identity-routes.ts'

type Variables = Record<string, string>

let nowMs: number
let edge: AccessGateway
beforeEach(async () => {
  nowMs = Date.UTC(2026, 0, 1)
  edge = await startAccessGateway(createClock(() => nowMs))
})
afterEach(async () => edge[Symbol.asyncDispose]())

const start = async (env: Variables = {}): Promise<FakeProduct> =>
  startFakeProduct({
    env: {
      SVC_AUTH_PROVIDER: 'proxy',
      SVC_EDGE_ACCESS_TEAM_DOMAIN: edge.url,
      SVC_EDGE_ACCESS_AUD: 'watchhouse',
      ...env,
    },
    clock: createClock(() => nowMs),
    routes: signInRoutes,
  })

const send = async ({ url }: FakeProduct, headers: Variables) => {
  const response = await fetch(`${url}/api/v1/read`, { headers })
  return { status: response.status, body: await response.json() }
}
const withToken = (token: string): Variables => ({ 'edge-access-jwt-assertion': token })

describe('a Cloudflare Access token', () => {
  it('identifies the user', async () => {
    await using product = await start()
    expect(await send(product, withToken(await edge.token('watchhouse')))).toEqual({
      status: 200,
      body: { kind: 'user', subject: 'uuid-1', features: 'all', profile: { email: 'ada@example.com' } },
    })
    expect(edge.received).toEqual(['GET /cdn-cgi/access/certs'])
  })

  it('identifies a program, whose token has no subject', async () => {
    await using product = await start()
    const token = await edge.token('watchhouse', { sub: '', email: undefined, common_name: 'backup.access' })
    expect(await send(product, withToken(token))).toMatchObject({ status: 200, body: { subject: 'backup.access' } })
  })

  it.each<[string, JWTPayload]>([
    ['for another application', { aud: ['other'] }],
    ['for no application', { aud: [] }],
    ['of another team', { iss: 'https://evil.example.com' }],
    ['that has ended', { exp: Date.UTC(2026, 0, 1) / 1000 - 60 }],
    ['that is not valid yet', { nbf: Date.UTC(2026, 0, 1) / 1000 + 60 }],
    ['without a user', { sub: '', email: undefined }],
  ])('%s is rejected', async (_what, claims) => {
    await using product = await start()
    expect(await send(product, withToken(await edge.token('watchhouse', claims)))).toMatchObject({
      status: 401,
      body: { error: { type: 'unauthenticated', message: 'invalid Cloudflare Access token' } },
    })
  })

  it('is accepted after a key rotation', async () => {
    await using product = await start()
    const before = await edge.token('watchhouse')
    expect((await send(product, withToken(before))).status).toBe(200)
    await edge.keys.rotate()
    nowMs += 60_000
    expect((await send(product, withToken(await edge.token('watchhouse')))).status).toBe(200)
    expect((await send(product, withToken(before))).status).toBe(200)
    expect(edge.received).toHaveLength(2)
  })

  it('is ignored when Cloudflare Access is not configured', async () => {
    await using product = await start({ SVC_EDGE_ACCESS_TEAM_DOMAIN: '', SVC_EDGE_ACCESS_AUD: '' })
    expect((await send(product, withToken(await edge.token('watchhouse')))).status).toBe(401)
    expect(edge.received).toEqual([])
  })

  it('returns 503 while its keys are unavailable', async () => {
    const token = await edge.token('watchhouse')
    await using product = await start()
    await edge[Symbol.asyncDispose]()
    const { status, body } = await send(product, withToken(token))
    expect(status).toBe(503)
    expect(JSON.stringify(body)).not.toContain(edge.url)
    edge = await startAccessGateway(createClock(() => nowMs))
  })
})

describe('a user header of a proxy', () => {
  const secret = { SVC_PROXY_AUTH_SECRET: 'shared' }
  const named = { 'x-forwarded-user': 'ada' }

  it.each<[number, string, Variables, Variables]>([
    [200, 'with the secret', secret, { ...named, 'x-svc-proxy-secret': 'shared' }],
    [401, 'with another secret', secret, { ...named, 'x-svc-proxy-secret': 'sharee' }],
    [401, 'without the secret', secret, named],
    [401, 'when there is no secret to know', {}, { ...named, 'x-svc-proxy-secret': '' }],
    [401, 'that is empty', secret, { 'x-forwarded-user': '', 'x-svc-proxy-secret': 'shared' }],
    [
      200,
      'with the secret before this one',
      { SVC_PROXY_AUTH_SECRET: 'new', SVC_PROXY_AUTH_SECRET_PREVIOUS: 'shared' },
      { ...named, 'x-svc-proxy-secret': 'shared' },
    ],
    [
      200,
      'in headers that the operator chose',
      { ...secret, SVC_PROXY_AUTH_HEADER: 'X-Who', SVC_PROXY_SHARED_SECRET_HEADER: 'X-Proof' },
      { 'x-who': 'ada', 'x-proof': 'shared' },
    ],
    [
      401,
      'in headers that the operator did not choose',
      { ...secret, SVC_PROXY_AUTH_HEADER: 'X-Who' },
      { ...named, 'x-svc-proxy-secret': 'shared' },
    ],
  ])('gets %i %s', async (status, _what, env, headers) => {
    await using product = await start(env)
    const answered = await send(product, headers)
    expect(answered.status).toBe(status)
    if (status === 200) expect(answered.body).toMatchObject({ kind: 'user', subject: 'ada' })
  })

  it('is sufficient next to an invalid token, as is a valid token next to a header without the secret', async () => {
    await using product = await start(secret)
    const headers = { ...named, 'x-svc-proxy-secret': 'shared', ...withToken('made-up') }
    expect((await send(product, headers)).status).toBe(200)
    const token = withToken(await edge.token('watchhouse'))
    expect(await send(product, { ...named, ...token })).toMatchObject({ status: 200, body: { subject: 'uuid-1' } })
  })
})

describe('the start', () => {
  it('fails with only one of the Cloudflare Access settings', async () => {
    await expect(start({ SVC_EDGE_ACCESS_AUD: '' })).rejects.toThrow('SVC_EDGE_ACCESS_AUD: is required')
  })
})

describe('a proxy that is not configured', () => {
  const warning = 'proxy sign-in is disabled'

  it('authenticates no user, with a warning in the log', async () => {
    await using product = await start({ SVC_EDGE_ACCESS_TEAM_DOMAIN: '', SVC_EDGE_ACCESS_AUD: '' })
    expect((await send(product, { 'x-forwarded-user': 'ada' })).status).toBe(401)
    expect(product.logged.join('')).toContain(warning)
  })

  it('causes no warning once it is configured', async () => {
    await using product = await start()
    expect(product.logged.join('')).not.toContain(warning)
  })
})
