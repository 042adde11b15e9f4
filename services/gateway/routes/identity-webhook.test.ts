import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import { IdentityWebhookResponse } from '#proto/http/identity-webhook.ts'
import { systemClock } from '#shared/time/clock.ts'
import { openStore } from '#shared/store/open.ts'
import type { Store } from '#shared/store/store.ts'
import { signApiKey } from '../auth/keys/key-token.ts'
import type { ValidRequest } from '../testing/valid-requests.ts'
import {
  type IdentityProvider,
  startIdentityProvider,
  identityWebhookSecret,
  createSignedIdentityEvent,
} from '../testing/identity-provider.ts'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'

const deleted = (id: string) => ({ type: 'user.deleted', object: 'event', data: { deleted: true, id, object: 'user' } })
const ended = (type: string) => ({
  type,
  object: 'event',
  data: { id: 'sess_1', user_id: 'user_ada', status: 'ended' },
})
const keySecret = 'the secret of the keys'
const keyOf = (sub: string) =>
  signApiKey({ jti: sub.padEnd(16, 'x'), sub, label: sub, scopes: ['read'], iat: 0, exp: 4_102_444_799 }, keySecret)
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

let idp: IdentityProvider
let directory: string
let store: Store
beforeAll(async () => {
  idp = await startIdentityProvider(systemClock)
  directory = await mkdtemp(join(tmpdir(), 'watchhouse-gone-'))
})
afterAll(async () => {
  await idp[Symbol.asyncDispose]()
  await rm(directory, { recursive: true })
})
beforeEach(async () => {
  store = await openStore({ env: {}, busIsShared: false })
})
afterEach(() => store[Symbol.asyncDispose]())

const open = (replaced: Parameters<typeof startFakeProduct>[0] = {}): Promise<FakeProduct> =>
  startFakeProduct({
    store,
    ...replaced,
    env: {
      SVC_AUTH_PROVIDER: 'idp',
      IDP_OAUTH_ISSUER: idp.url,
      IDP_WEBHOOK_SECRET: identityWebhookSecret,
      SVC_API_KEY_SECRET: keySecret,
      SVC_IDP_PUBLIC_READ: 'false',
      SVC_STATE_DB_URL: `file:${directory}/state.db`,
      SVC_FEATURE_USER_CONNECTIONS_DB: 'true',
      ...replaced.env,
    },
  })

const sendEvent = async ({ url }: FakeProduct, { url: path, raw, headers }: ValidRequest) => {
  const response = await fetch(url + path, { method: 'POST', body: raw ?? '', headers: headers ?? {} })
  return { status: response.status, text: await response.text() }
}
const doneBy = ({ text }: { text: string }) => IdentityWebhookResponse.parse(JSON.parse(text)).data
const statusFor = async ({ url }: FakeProduct, headers: Record<string, string>) =>
  (await fetch(`${url}/api/v1/hosts`, { headers })).status

describe('a user who was deleted at the identity provider', () => {
  it('is rejected by every gateway, unlike other users', async () => {
    await using product = await open()
    await using another = await open()
    const [session, key, other] = [await idp.token(), keyOf('user_ada'), keyOf('user_eve')]
    const statuses = async () =>
      Promise.all([
        statusFor(product, bearer(session)),
        statusFor(product, { cookie: `__session=${session}` }),
        statusFor(another, bearer(key)),
        statusFor(product, bearer(other)),
      ])
    expect(await statuses()).toEqual([200, 200, 200, 200])
    expect(await sendEvent(product, createSignedIdentityEvent(deleted('user_ada')))).toMatchObject({ status: 200 })
    expect(await statuses()).toEqual([401, 401, 401, 200])
  })

  it('has all data removed with an audit record, and nothing left the second time', async () => {
    await using product = await open({ alerts: {}, agent: { removeConversations: async () => ({ removed: 3 }) } })
    await statusFor(product, bearer(keyOf('user_bea')))
    const kept = await fetch(`${product.url}/api/v1/user-connections`, {
      method: 'POST',
      headers: { ...bearer(await idp.token({ sub: 'user_bea' })), 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'mine', url: 'https://db.example.com:8443', user: 'bea', password: 'x' }),
    })
    expect(kept.status).toBe(200)
    const first = doneBy(
      await sendEvent(product, createSignedIdentityEvent(deleted('user_bea'), { prefix: 'webhook' })),
    )
    expect(first).toEqual({
      done: 'person-forgotten',
      removed: { keys: 1, connections: 1, subscriptions: 1, conversations: 3, pageViews: 2 },
    })
    const again = doneBy(await sendEvent(product, createSignedIdentityEvent(deleted('user_bea'))))
    expect(again.removed).toMatchObject({ keys: 0, connections: 0 })
    const record = await fetch(`${product.url}/api/v1/audit?limit=1`, {
      headers: bearer(await idp.token({ sub: 'user_eve', sid: 'sess_9' })),
    })
    expect(await record.json()).toMatchObject({
      data: [{ action: 'forget-person', actor: { subject: 'identity-provider' }, target: { subject: 'user_bea' } }],
    })
  })

  it('is removed except for page views that the ClickHouse user may not delete', async () => {
    const removePageViews = () => Promise.reject(new ServiceError('forbidden', 'it needs GRANT ALTER DELETE'))
    await using product = await open({ query: { removePageViews } })
    const received = await sendEvent(product, createSignedIdentityEvent(deleted('user_ada')))
    expect(doneBy(received).removed).toMatchObject({ pageViews: 0 })
  })

  it('is blocked even when the removal fails, which the provider retries', async () => {
    const subscriptions = () => Promise.reject(new ServiceError('unavailable', 'the database does not answer'))
    await using product = await open({ alerts: { subscriptions } })
    expect(await sendEvent(product, createSignedIdentityEvent(deleted('user_ada')))).toMatchObject({ status: 503 })
    expect(await statusFor(product, bearer(await idp.token()))).toBe(401)
  })
})

describe('a session that ended at the identity provider', () => {
  it.each(['session.revoked', 'session.ended', 'session.removed'])(
    'by %s counts for nothing, and no other',
    async (type) => {
      await using product = await open()
      const received = await sendEvent(product, createSignedIdentityEvent(ended(type)))
      expect(doneBy(received)).toEqual({ done: 'session-ended', removed: null })
      expect(await statusFor(product, bearer(await idp.token()))).toBe(401)
      expect(await statusFor(product, bearer(await idp.token({ sid: 'sess_2' })))).toBe(200)
    },
  )
})

describe('the webhook of the identity provider', () => {
  it('accepts events that have no effect', async () => {
    await using product = await open()
    const received = await sendEvent(
      product,
      createSignedIdentityEvent({ type: 'user.updated', data: { id: 'user_ada' } }),
    )
    expect(doneBy(received)).toEqual({ done: null, removed: null })
    expect(await statusFor(product, bearer(await idp.token()))).toBe(200)
  })

  it('accepts the previous secret during rotation', async () => {
    const before = `whsec_${Buffer.alloc(24, 8).toString('base64')}`
    await using product = await open({ env: { IDP_WEBHOOK_SECRET_PREVIOUS: before } })
    const received = await sendEvent(product, createSignedIdentityEvent(ended('session.ended'), { secret: before }))
    expect(received).toMatchObject({ status: 200 })
  })

  it.each([
    [{ IDP_WEBHOOK_SECRET: '' }, 'IDP_WEBHOOK_SECRET'],
    [{ SVC_AUTH_PROVIDER: 'none' }, 'SVC_AUTH_PROVIDER is not'],
  ])('is rejected with %j', async (env, says) => {
    await using product = await open({ env })
    const received = await sendEvent(product, createSignedIdentityEvent(deleted('user_ada')))
    expect(received).toMatchObject({ status: 503, text: expect.stringContaining(says) })
  })

  const good = createSignedIdentityEvent(deleted('user_ada'))
  const minuteMs = 60_000
  const withHeaders = (more: Record<string, string>): ValidRequest => ({
    ...good,
    headers: { ...good.headers, ...more },
  })
  const otherSecret = `whsec_${Buffer.alloc(24, 9).toString('base64')}`
  it.each<[string, ValidRequest, number, string]>([
    ['with another secret', createSignedIdentityEvent(deleted('x'), { secret: otherSecret }), 401, 'svix-signature'],
    ['without a signature', withHeaders({ 'svix-signature': '' }), 401, 'svix-signature'],
    ['with a signature of another version', withHeaders({ 'svix-signature': 'v1a,AAAA' }), 401, 'svix-signature'],
    ['under another id', withHeaders({ 'svix-id': 'msg_3' }), 401, 'svix-signature'],
    ['without an id', withHeaders({ 'svix-id': '' }), 401, 'svix-signature'],
    ['whose body was changed', { ...good, raw: `${good.raw} ` }, 401, 'svix-signature'],
    [
      'six minutes old',
      createSignedIdentityEvent(deleted('x'), { atMs: Date.now() - 6 * minuteMs }),
      401,
      'svix-timestamp',
    ],
    [
      'six minutes ahead',
      createSignedIdentityEvent(deleted('x'), { atMs: Date.now() + 6 * minuteMs }),
      401,
      'svix-timestamp',
    ],
    ['that is no JSON', createSignedIdentityEvent('{'), 400, 'not JSON'],
    ['of another type', withHeaders({ 'content-type': 'text/plain' }), 415, 'application/json'],
    ['of no event', createSignedIdentityEvent({ data: {} }), 400, 'type'],
    ['without a subject', createSignedIdentityEvent({ type: 'user.deleted', data: {} }), 400, 'data.id'],
    ['of no session', createSignedIdentityEvent({ type: 'session.revoked', data: {} }), 400, 'data.id'],
  ])('is rejected %s', async (_what, request, status, says) => {
    await using product = await open()
    expect(await sendEvent(product, request)).toMatchObject({ status, text: expect.stringContaining(says) })
    expect(await statusFor(product, bearer(await idp.token()))).toBe(200)
  })
})
