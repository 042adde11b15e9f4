import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { ErrorResponse } from '#proto/http/response.ts'
import { AuditResponse } from '#proto/http/audit.ts'
import { ConfigResponse } from '#proto/http/config.ts'
import {
  ChangedSubscriptionResponse,
  SignedSubscriptionResponse,
  SubscriptionsResponse,
} from '#proto/http/subscriptions.ts'
import { computeOwnerId } from '../connections/user-connections.ts'
import { startFakeProduct } from '../testing/fake-product.ts'
import { anonymousCaller } from '../auth/identity.ts'

const path = '/api/v1/webhook-subscriptions'
const mine = { name: 'mine', url: 'https://hooks.example/a-secret' }

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'watchhouse-subscriptions-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

const open = async (more: Record<string, string | undefined> = {}, identity?: Identity, alerts = {}) => {
  const env = {
    SVC_AUTH_PROVIDER: 'idp',
    IDP_OAUTH_ISSUER: 'https://clerk.example.com',
    IDP_SECRET_KEY: 'sk_test_x',
    SVC_FEATURE_WEBHOOK_SUBSCRIPTIONS: 'true',
    CONVERSATIONS_EDGESQL: `file:${directory}/edge.db`,
    SVC_IDP_PUBLIC_READ: 'true',
    ...more,
  }
  const identify = async () => identity ?? ({ kind: 'user', subject: 'ada', features: 'all' } as const)
  const product = await startFakeProduct({ env, identify, alerts })
  const send = async (method: string, rest = '', body?: unknown) => {
    const init = { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const response = await fetch(product.url + path + rest, init)
    return { status: response.status, body: (await response.json()) as unknown }
  }
  return { product, send, [Symbol.asyncDispose]: () => product[Symbol.asyncDispose]() }
}

describe('webhook subscriptions', () => {
  it('return their signing secret once and at each rotation, and never in audit records', async () => {
    await using rig = await open()
    const added = SignedSubscriptionResponse.parse((await rig.send('POST', '', mine)).body).data
    expect(added.signingSecret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    const { data } = SubscriptionsResponse.parse((await rig.send('GET')).body)
    expect(JSON.stringify(data)).not.toContain('whsec')
    const id = data[0]?.id ?? ''
    const again = SignedSubscriptionResponse.parse((await rig.send('POST', `/${id}/rotate-secret`, {})).body).data
    expect(again.signingSecret).not.toBe(added.signingSecret)
    const record = await (await fetch(`${rig.product.url}/api/v1/audit?limit=5`)).text()
    expect(JSON.parse(record).data).toMatchObject([
      { action: 'rotate-webhook-secret', target: { id } },
      { action: 'subscribe-webhook', target: { name: 'mine' } },
    ])
    expect(record).not.toMatch(/whsec|a-secret/)
  })

  it('get a new signing secret only when their URL moves to another server', async () => {
    await using rig = await open()
    const change = async (url?: string) => {
      const { body } = await rig.send('PUT', `/whs_${'a'.repeat(24)}`, { name: 'mine', url })
      return ChangedSubscriptionResponse.parse(body).data.signingSecret
    }
    expect(await change()).toBeUndefined()
    expect(await change('https://hooks.example/other')).toBeUndefined()
    expect(await change('https://moved.example/other')).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  })

  it('require authentication', async () => {
    await using rig = await open({}, anonymousCaller)
    expect((await rig.send('GET')).status).toBe(401)
  })

  it.each([
    ['SVC_FEATURE_WEBHOOK_SUBSCRIPTIONS', { SVC_FEATURE_WEBHOOK_SUBSCRIPTIONS: undefined }],
    ['SVC_FEATURE_WEBHOOK_SUBSCRIPTIONS', { SVC_FEATURE_WEBHOOK_SUBSCRIPTIONS: 'false', SVC_CLOUD_MODE: 'true' }],
    ['SVC_AUTH_PROVIDER', { SVC_AUTH_PROVIDER: 'none' }],
    ['IDP_SECRET_KEY', { IDP_SECRET_KEY: undefined }],
    ['CONVERSATIONS_EDGESQL', { CONVERSATIONS_EDGESQL: undefined }],
  ])('return 501 without %s', async (name, more) => {
    await using rig = await open(more)
    const { status, body } = await rig.send('GET')
    expect([status, ErrorResponse.parse(body).error.message]).toEqual([501, expect.stringContaining(name)])
  })

  it.each([
    ['where they can be', true, {}, {}],
    ['not without a prerequisite', false, { CONVERSATIONS_EDGESQL: undefined }, {}],
    ['not without the key of who keeps them', false, {}, { subscriptionsOffered: async () => ({ isOffered: false }) }],
    [
      'not while alert-dispatcher is unavailable',
      false,
      {},
      { subscriptionsOffered: () => Promise.reject(new Error('x')) },
    ],
  ])('are offered %s', async (_name, isOffered, more, alerts) => {
    await using rig = await open(more, undefined, alerts)
    const config = ConfigResponse.parse(await (await fetch(`${rig.product.url}/api/v1/config`)).json())
    expect(config.data.offers.subscriptions).toBe(isOffered)
  })

  it.each([
    ['POST', '', { name: 'mine' }, 400, 'url'],
    ['POST', '', { ...mine, name: '' }, 400, 'name'],
    ['POST', '', { ...mine, minSeverity: 'info' }, 400, 'minSeverity'],
    ['POST', '', { ...mine, signingSecret: 'whsec_x' }, 400, 'signingSecret'],
    ['PUT', '/whs_1', { name: 'mine' }, 400, 'id'],
    ['DELETE', `/whs_${'b'.repeat(24)}`, undefined, 404, 'subscription not found'],
  ])('%s %s %j returns %s and names %s', async (method, rest, sent, status, says) => {
    await using rig = await open()
    const answered = await rig.send(method, rest, sent)
    expect(answered.status).toBe(status)
    expect(JSON.stringify(answered.body)).toContain(says)
    expect(JSON.stringify(answered.body)).not.toContain('a-secret')
  })
})

describe('deliveries of subscriptions', () => {
  const ada = { kind: 'user', subject: 'ada', features: 'all' } as const
  const readingKey: Identity = { kind: 'key', subject: 'ada', features: 'all', scopes: ['read'] }

  it.each<[string, Identity, boolean, 'own' | 'everybody']>([
    ['a person who may not manage users', ada, false, 'own'],
    ['a person who may', ada, true, 'everybody'],
    ['a key that may only read', readingKey, true, 'own'],
    ['a person without the feature', { ...ada, features: ['HEALTH'] }, true, 'own'],
    ['a reader of whom nothing is known', anonymousCaller, true, 'own'],
  ])('are visible to %s', async (_who, identity, enabled, expected) => {
    const received: unknown[] = []
    await using product = await startFakeProduct({
      env: { SVC_AUTH_PROVIDER: 'idp', IDP_OAUTH_ISSUER: 'https://clerk.example.com', SVC_IDP_PUBLIC_READ: 'true' },
      identify: async () => identity,
      query: { management: async () => ({ enabled }) },
      alerts: {
        deliveries: async ({ subscriptionsOf }) => (received.push(subscriptionsOf), []),
        deadLetters: async ({ subscriptionsOf }) => (received.push(subscriptionsOf), { letters: [], next: null }),
        replayDeadLetter: async ({ subscriptionsOf }) => {
          received.push(subscriptionsOf)
          throw new ServiceError('not-found', 'no such dead letter')
        },
      },
    })
    const health = `${product.url}/api/v1/health`
    await fetch(`${health}/deliveries?channel=subscriptions`)
    await fetch(`${health}/dead-letters?stream=DELIVER`)
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
    const replayed = await fetch(`${health}/dead-letters/7/replay`, init)
    const mayReplay = identity.kind === 'user'
    expect(replayed.status).toBe(mayReplay ? 404 : identity.kind === 'key' ? 403 : 401)
    const visible = expected === 'own' ? { owner: computeOwnerId(identity) } : 'everybody'
    expect(received).toEqual(Array(mayReplay ? 3 : 2).fill(visible))
  })

  it('are audited for their owner only', async () => {
    let identity: Identity = ada
    await using product = await startFakeProduct({
      env: {
        SVC_AUTH_PROVIDER: 'idp',
        IDP_OAUTH_ISSUER: 'https://clerk.example.com',
        IDP_SECRET_KEY: 'sk_test_x',
        SVC_FEATURE_WEBHOOK_SUBSCRIPTIONS: 'true',
        CONVERSATIONS_EDGESQL: `file:${directory}/edge.db`,
      },
      identify: async () => identity,
      query: { management: async () => ({ enabled: false }) },
      alerts: {},
    })
    const one = `${path}/whs_${'a'.repeat(24)}`
    const requests = [
      ['POST', path, mine],
      ['PUT', one, { name: 'mine' }],
      ['POST', `${one}/rotate-secret`, {}],
      ['POST', `${one}/test`, {}],
      ['DELETE', one, undefined],
    ] as const
    for (const [method, target, body] of requests) {
      const init = { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
      expect((await fetch(product.url + target, init)).status).toBe(200)
    }
    const records = async () => AuditResponse.parse(await (await fetch(`${product.url}/api/v1/audit`)).json()).data
    expect(await records()).toHaveLength(requests.length)
    identity = { ...ada, subject: 'eve' }
    expect(await records()).toEqual([])
  })
})
