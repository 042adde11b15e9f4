import { describe, expect, it, onTestFinished } from 'vitest'
import { hash } from 'node:crypto'
import { type FakeGateway, startFakeGateway } from './testing/fake-gateway.ts'
import { createUserCall, openTestModels } from './testing/open-models.ts'

const redirectUri = 'https://watchhouse.example.com/api/v1/agents/sign-in/callback'
const token = { json: { access_token: 'sk-ar-of-ada', token_type: 'Bearer', expires_in: 3_600 } }
const off = { GATEWAY_C_DYNAMIC_MODELS: 'off' }

const start = async (env: Record<string, string> = {}, responses: FakeGateway['responses'] = {}) => {
  const c = await startFakeGateway({
    'POST /v1/mcp/oauth/register': { status: 201, json: { client_id: 'registered' } },
    'POST /v1/mcp/oauth/token': token,
    ...responses,
  })
  onTestFinished(() => c[Symbol.asyncDispose]())
  const secret = { SVC_USER_CONNECTIONS_ENCRYPTION_KEY: 'a key of sixteen characters' }
  const opened = await openTestModels({ GATEWAY_C_API_BASE: c.base, ...secret, ...off, ...env })
  const { signIn } = opened.models
  const begin = async (call = createUserCall()) =>
    new URL(await signIn.begin({ redirectUri, returnTo: '/agents?chat=1' }, call))
  const end = (url: URL, call = createUserCall(), more: Record<string, string> = {}) => {
    const state = url.searchParams.get('state') ?? ''
    return signIn.end({ state, query: new URLSearchParams({ code: 'the-code', state, ...more }).toString() }, call)
  }
  return { ...opened, c, signIn, begin, end }
}

describe('signing in with AnyRouter', () => {
  it('redirects to the gateway with a client that is registered once, and returns with a key of the user', async () => {
    const { c, models, signIn, begin, end, logged, clock } = await start()
    const url = await begin()
    expect(url.href.startsWith(`${c.base}/mcp/oauth/authorize?`)).toBe(true)
    const parameters = Object.fromEntries(url.searchParams)
    expect(parameters).toMatchObject({
      response_type: 'code',
      client_id: 'registered',
      redirect_uri: redirectUri,
      scope: 'inference',
      code_challenge_method: 'S256',
    })
    expect(JSON.parse(c.received[0]?.body ?? '')).toMatchObject({
      app_type: 'signin',
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: 'none',
      origin_url: 'https://watchhouse.example.com',
    })
    expect(await end(url)).toEqual({ returnTo: '/agents?chat=1', signedIn: true })
    expect(await signIn.state(createUserCall())).toEqual({
      provider: 'gateway_c',
      possible: true,
      reason: null,
      signedIn: true,
      expiresAtMs: clock.nowMs + 3_600_000,
    })
    const sent = Object.fromEntries(new URLSearchParams(c.received[1]?.body))
    expect(sent).toMatchObject({
      grant_type: 'authorization_code',
      code: 'the-code',
      client_id: 'registered',
      redirect_uri: redirectUri,
    })
    const challenge = hash('sha256', sent.code_verifier ?? '', 'base64url')
    expect(challenge).toBe(parameters.code_challenge)
    await begin()
    expect(c.received).toHaveLength(2)

    const { client, id } = await models.choose(null, createUserCall())
    expect(id).toBe('gateway_c:anyrouter/auto')
    await client.models.list().catch(() => undefined)
    expect(c.received.at(-1)?.headers.authorization).toBe('Bearer sk-ar-of-ada')
    expect(logged.join('\n')).not.toContain('sk-ar-of-ada')
    expect(await signIn.forget(createUserCall())).toMatchObject({ signedIn: false, expiresAtMs: null })
    await expect(models.choose(null, createUserCall())).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('affects neither other users nor the key of the operator', async () => {
    const { models, begin, end, signIn } = await start({ GATEWAY_C_API_KEY: 'sk-of-the-operator' })
    await end(await begin())
    const keyOf = async (subject: string) =>
      (await models.choose('gateway_c:anyrouter/auto', createUserCall('user', subject))).client.apiKey
    expect([await keyOf('ada'), await keyOf('eve')]).toEqual(['sk-ar-of-ada', 'sk-of-the-operator'])
    expect(await signIn.state(createUserCall('user', 'eve'))).toMatchObject({ possible: true, signedIn: false })
    const before = await models.choose('gateway_c:anyrouter/auto', createUserCall(), 'sk-of-the-request')
    expect(before.client.apiKey).toBe('sk-of-the-request')
  })

  it('uses the client of the operator if one is set', async () => {
    const { c, begin } = await start({ GATEWAY_C_OAUTH_CLIENT_ID: 'ours' })
    expect((await begin()).searchParams.get('client_id')).toBe('ours')
    expect(c.received).toEqual([])
  })

  it('finishes once, and only for the user who started it', async () => {
    const { begin, end } = await start()
    const url = await begin()
    await expect(end(url, createUserCall('user', 'eve'))).rejects.toMatchObject({ code: 'conflict' })
    await end(url)
    await expect(end(url)).rejects.toMatchObject({ code: 'conflict' })
    await expect(end(new URL('http://x/?state=never-started'))).rejects.toMatchObject({ code: 'conflict' })
  })

  it.each([
    [
      'the code is rejected',
      { status: 400, json: { error: 'invalid_grant', error_description: 'sk-ar-x' } },
      'conflict',
      'AnyRouter rejected the sign-in: invalid_grant',
    ],
    [
      'the error is free text',
      { status: 400, json: { error: 'go to http://evil' } },
      'conflict',
      'AnyRouter rejected the sign-in',
    ],
    ['the response is no token', { body: '<html>' }, 'unavailable', 'AnyRouter sign-in failed: unexpected response'],
    [
      'the key is invalid',
      { json: { ...token.json, access_token: 'a b' } },
      'unavailable',
      'AnyRouter sign-in failed: unexpected response',
    ],
    [
      'the gateway redirects',
      { location: 'http://127.0.0.1:9/' },
      'unavailable',
      'AnyRouter sign-in failed: AnyRouter is unreachable; try again',
    ],
  ])('reports the failure if %s', async (_, answer, code, message) => {
    const { begin, end, signIn } = await start({}, { 'POST /v1/mcp/oauth/token': { ...token, ...answer } })
    await expect(end(await begin())).rejects.toMatchObject({ code, message })
    expect(await signIn.state(createUserCall())).toMatchObject({ signedIn: false })
  })

  it('returns without a key if the user declines', async () => {
    const { begin, end, signIn, c } = await start()
    const ended = end(await begin(), createUserCall(), { error: 'access_denied' })
    expect(await ended).toEqual({ returnTo: '/agents?chat=1', signedIn: false })
    expect(await signIn.state(createUserCall())).toMatchObject({ signedIn: false })
    expect(c.received.map(({ path }) => path)).toEqual(['/v1/mcp/oauth/register'])
  })

  it('reports that no client can be registered', async () => {
    const { begin } = await start(
      {},
      { 'POST /v1/mcp/oauth/register': { status: 403, json: { error: 'access_denied' } } },
    )
    await expect(begin()).rejects.toMatchObject({
      code: 'conflict',
      message: 'AnyRouter rejected the sign-in: access_denied',
    })
  })

  it.each(['anonymous', 'guest', 'key', 'service'] as const)('is not available to the identity %s', async (kind) => {
    const { begin, signIn } = await start()
    await expect(begin(createUserCall(kind))).rejects.toMatchObject({ code: 'forbidden' })
    expect(await signIn.state(createUserCall(kind))).toMatchObject({
      possible: false,
      reason: expect.stringContaining('sign in to Watchhouse'),
    })
  })

  it('names the variable to set if keys cannot be stored', async () => {
    const { begin } = await start({ SVC_USER_CONNECTIONS_ENCRYPTION_KEY: '' })
    await expect(begin()).rejects.toMatchObject({
      code: 'not-implemented',
      message: expect.stringContaining('SVC_USER_CONNECTIONS_ENCRYPTION_KEY'),
    })
  })

  it('ends when the key expires or is deleted, and when the address of AnyRouter changes', async () => {
    const { begin, end, signIn, clock, env } = await start()
    await end(await begin())
    const { GATEWAY_C_API_BASE: base = '' } = env
    env.GATEWAY_C_API_BASE = 'https://moved.example/v1'
    expect(await signIn.state(createUserCall())).toMatchObject({ signedIn: false })
    expect(await signIn.accessOf(createUserCall())).toBeUndefined()
    env.GATEWAY_C_API_BASE = base
    clock.nowMs += 3_599_999
    expect(await signIn.accessOf(createUserCall())).toMatchObject({ key: 'sk-ar-of-ada' })
    clock.nowMs += 1
    expect(await signIn.accessOf(createUserCall())).toBeUndefined()
  })
})
