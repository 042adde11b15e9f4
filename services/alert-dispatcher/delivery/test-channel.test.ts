import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '#shared/time/clock.ts'
import { openNet } from '#shared/net/net.ts'
import { openStore } from '#shared/store/open.ts'
import type { Store } from '#shared/store/store.ts'
import { encryptForTransit, openTransitKeyPair } from '#shared/seal/transit.ts'
import { ntfyRig } from '../channels/testing/ntfy.ts'
import type { StrictServer } from '../channels/testing/strict-server.ts'
import { TargetRateLimit, releaseSend, getRateLimitKey } from './rate-limit.ts'
import { testServiceCall } from './testing/fixture.ts'
import { createMemoryStores } from '../stores/collection-stores.ts'
import { testPolicy } from '../testing/simulated-host.ts'
import { createTestChannelHandler } from './test-channel.ts'

describe('testing a channel', () => {
  let server: StrictServer
  let store: Store
  let opened: AsyncDisposableStack
  beforeEach(async () => {
    opened = new AsyncDisposableStack()
    server = opened.use(await ntfyRig.start())
    store = opened.use(await openStore({ env: {}, busIsShared: false }))
  })
  afterEach(() => opened.disposeAsync())

  const test = async (
    channel: string,
    target?: string,
    more = {},
    { draft, isCallerLocal = false }: { draft?: Record<string, string>; isCallerLocal?: boolean } = {},
  ) => {
    const env = { ...ntfyRig.env(server.url), ...more }
    const net = opened.use(openNet({ env }))
    const policy = async () => testPolicy
    const transit = openTransitKeyPair(store, 'test:transit-key')
    const stores = createMemoryStores()
    const deps = { env, store, net, clock: systemClock, policy, transit, stores }
    const encrypted = draft && (await encryptForTransit(await transit.publicKey(), { settings: draft }))
    return createTestChannelHandler(deps).testChannel({ channel, target, encrypted, isCallerLocal }, testServiceCall)
  }

  it('sends at once, even if the channel is disabled and below its minimum severity', async () => {
    const off = { HEALTH_ALERT_PUSH_A_ENABLED: 'off', HEALTH_ALERT_PUSH_A_MIN_SEVERITY: 'critical' }
    expect(await test('push-a', undefined, off)).toMatchObject([{ name: 'push-a', result: 'ok', reason: null }])
    expect(server.taken.map(ntfyRig.textOf)).toEqual(['TEST: Notifications work'])
  })

  it('reports why it failed and the response, without the address', async () => {
    server.next({ status: 403, body: `no topic at ${ntfyRig.env(server.url).HEALTH_ALERT_PUSH_A_URL}` })
    const response = { status: 403, tookMs: expect.any(Number), text: 'no topic at [hidden]' }
    expect(await test('push-a', 'push-a')).toEqual([{ name: 'push-a', result: 'config', reason: 'HTTP 403', response }])
  })

  it('tests settings before they are saved, and records nothing about saved ones', async () => {
    const key = { SVC_USER_CONNECTIONS_ENCRYPTION_KEY: 'the key of the operator', SVC_ALLOW_PRIVATE_HOSTS: 'true' }
    const unset = { HEALTH_ALERT_PUSH_A_URL: '', HEALTH_ALERT_PUSH_A_TOKEN: '' }
    await expect(test('push-a', undefined, unset)).rejects.toMatchObject({ code: 'conflict' })
    const { HEALTH_ALERT_PUSH_A_URL: url = '', HEALTH_ALERT_PUSH_A_TOKEN: token = '' } = ntfyRig.env(server.url)
    const draft = { url, ...(token && { token }) }
    const place = getRateLimitKey('push-a', 'default')
    const configured = { ...unset, ...key, HEALTH_ALERT_PUSH_A_URL: 'https://ntfy.example/other' }
    expect(await test('push-a', undefined, configured, { draft })).toMatchObject([{ result: 'ok' }])
    expect(await store.get(place, TargetRateLimit)).toBeUndefined()
    expect(await test('push-a', undefined, { ...unset, ...key }, { draft })).toMatchObject([
      { result: 'ok', response: { status: 200 } },
    ])
    expect(server.taken).toHaveLength(2)
    expect(await store.get(place, TargetRateLimit)).toMatchObject({ last: { result: 'ok' } })
    await expect(test('push-a', undefined, { ...unset, ...key }, { draft: { url: 'no URL' } })).rejects.toMatchObject({
      code: 'invalid',
      details: { parameter: 'settings.url' },
    })
    await expect(
      test('push-a', undefined, { ...unset, ...key, SVC_ALLOW_PRIVATE_HOSTS: 'false' }, { draft }),
    ).rejects.toMatchObject({ code: 'invalid', details: { parameter: 'settings.url' } })
    // A caller on the machine of a single process may use private addresses.
    const single = { ...unset, ...key, SVC_ALLOW_PRIVATE_HOSTS: '', SVC_DATA_DIRECTORY: '/data' }
    const local = { draft, isCallerLocal: true }
    expect(await test('push-a', undefined, single, local)).toMatchObject([{ result: 'ok' }])
    await expect(test('push-a', undefined, single, { draft })).rejects.toMatchObject({ code: 'invalid' })
    await expect(test('push-a', undefined, { ...single, SVC_CLOUD_MODE: 'true' }, local)).rejects.toMatchObject({
      code: 'invalid',
    })
  })

  it('stores a failure as the last result and delays no alert', async () => {
    server.next({ status: 403, body: 'secret-path' })
    await test('push-a')
    expect(await store.get(getRateLimitKey('push-a', 'default'), TargetRateLimit)).toMatchObject({
      last: { result: 'config', reason: 'HTTP 403' },
      failures: 0,
      restsUntilMs: 0,
      broken: null,
    })
  })

  it('ends the pause of a target and reports its recovery', async () => {
    const key = getRateLimitKey('push-a', 'default')
    const result = { kind: 'config', reason: 'HTTP 403' } as const
    const broken = releaseSend(undefined, { episodes: ['e'], nowMs: Date.now(), result, restMs: () => 60_000 })
    await store.update(key, TargetRateLimit, () => ({ value: broken }))
    await test('push-a')
    expect(await store.get(key, TargetRateLimit)).toMatchObject({
      broken: null,
      restsUntilMs: 0,
      last: { result: 'ok' },
    })
    const [notified] = await store.outbox.claim(10, 1_000)
    expect(notified?.payload).toMatchObject({ kind: 'recover', source: 'push-a:default' })
  })

  it.each([
    ['push-c', undefined, 'not-found', 'push-a'],
    ['push-a', 'push-aa', 'not-found', 'push-a'],
    ['chat-a', undefined, 'conflict', 'required settings are missing'],
  ])('rejects %s with target %s as %s', async (channel, target, code, says) => {
    await expect(test(channel, target)).rejects.toMatchObject({ code, message: expect.stringContaining(says) })
  })
})
