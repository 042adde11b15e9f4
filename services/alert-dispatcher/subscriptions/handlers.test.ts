import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Environment } from '#shared/config/environment.ts'
import { openNet } from '#shared/net/net.ts'
import { encryptForTransit, openTransitKeyPair } from '#shared/seal/transit.ts'
import { openStore } from '#shared/store/open.ts'
import { testServiceCall } from '../delivery/testing/fixture.ts'
import { createSubscriptionHandlers } from './handlers.ts'
import { type Subscriptions, openSubscriptions } from './open-subscriptions.ts'
import { maxSubscriptionsPerOwner } from './open-subscriptions.ts'

const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`
const url = 'https://93.184.216.34/hooks/a-token-of-mine'
const idOf = (number: number) => `whs_${String(number).padStart(24, '0')}`
const fields = {
  name: 'mine',
  enabled: true,
  minSeverity: 'critical' as const,
  matchRule: 'disk*',
  matchHost: '*',
}

let opened: AsyncDisposableStack
let binding: string
beforeEach(async () => {
  opened = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'watchhouse-subscriptions-'))
  opened.defer(() => rm(directory, { recursive: true, force: true }))
  binding = `file:${directory}/edge.db`
})
afterEach(() => opened.disposeAsync())

const open = async (more: Environment = {}) => {
  const clock = { ms: 1_790_000_000_000, now: () => clock.ms, elapsedMs: () => clock.ms }
  const env: Environment = {
    SVC_FEATURE_WEBHOOK_SUBSCRIPTIONS: 'true',
    CONVERSATIONS_EDGESQL: binding,
    SVC_USER_CONNECTIONS_ENCRYPTION_KEY: 'a key that is hard to guess',
    ...more,
  }
  const store = opened.use(await openStore({ env: {}, busIsShared: false }))
  const subscriptions: Subscriptions = opened.use(
    await openSubscriptions({ env, clock, log: pino({ enabled: false }) }),
  )
  const transit = openTransitKeyPair(store, 'key')
  const net = opened.use(openNet({ env }))
  const delivery = { handlers: { deliveries: async () => [] } }
  // The handlers use only this part of `delivery`.
  const deps = { env, store, net, clock, transit, subscriptions, delivery } as unknown as Parameters<
    typeof createSubscriptionHandlers
  >[0]
  const handlers = createSubscriptionHandlers(deps)
  const encrypted = async (secrets: object) => encryptForTransit(await transit.publicKey(), secrets)
  const add = async (number = 1, owner = 'ada', secrets: object = { url, signingSecret: secretOf(1) }) =>
    handlers.addSubscription({ owner, id: idOf(number), fields, encrypted: await encrypted(secrets) }, testServiceCall)
  return { clock, handlers, encrypted, add, subscriptions }
}

describe('subscriptions', () => {
  it('are stored encrypted and returned without secrets, only to their owner', async () => {
    const { handlers, add, subscriptions } = await open()
    const shown = await add()
    expect(shown).toMatchObject({ ...fields, id: idOf(1), url: '••••mine', failures: 0, broken: null, last: null })
    expect(JSON.stringify(shown)).not.toMatch(/whsec|hooks/)
    expect(await handlers.subscriptions({ owner: 'ada' }, testServiceCall)).toEqual([shown])
    expect(await handlers.subscriptions({ owner: 'eve' }, testServiceCall)).toEqual([])
    expect(JSON.stringify(await subscriptions.store().all())).not.toMatch(/whsec|hooks/)
    expect(await subscriptions.current()).toMatchObject([{ url, signingSecret: secretOf(1), replaced: null }])
  })

  it('are updated in part, and a replaced secret stays valid for a day', async () => {
    const { handlers, add, encrypted, subscriptions, clock } = await open()
    await add()
    clock.ms += 1_000
    const which = { owner: 'ada', id: idOf(1) }
    const changed = await handlers.changeSubscription(
      { ...which, fields: { ...fields, name: 'ours' } },
      testServiceCall,
    )
    expect(changed).toMatchObject({ name: 'ours', url: '••••mine', updatedAtMs: clock.ms })
    const replacement = await encrypted({ signingSecret: secretOf(2) })
    await handlers.changeSubscription({ ...which, encrypted: replacement }, testServiceCall)
    expect(await subscriptions.current()).toMatchObject([
      {
        name: 'ours',
        signingSecret: secretOf(2),
        replaced: { signingSecret: secretOf(1), untilMs: clock.ms + 86_400_000 },
      },
    ])
  })

  it('require a new signing secret for another server, and drop the previous one', async () => {
    const { handlers, add, encrypted, subscriptions } = await open()
    await add()
    const which = { owner: 'ada', id: idOf(1) }
    const change = async (secrets: object) =>
      handlers.changeSubscription({ ...which, encrypted: await encrypted(secrets) }, testServiceCall)
    await change({ signingSecret: secretOf(2) })
    const moved = { movedSigningSecret: secretOf(3) }
    expect(await change({ url: 'https://93.184.216.34/hooks/other', ...moved })).toMatchObject({ hasMoved: false })
    expect(await subscriptions.current()).toMatchObject([{ signingSecret: secretOf(2), replaced: {} }])
    const elsewhere = 'https://93.184.216.35/hooks/other'
    const refusal = { code: 'invalid', details: { parameter: 'url' } }
    await expect(change({ url: elsewhere })).rejects.toMatchObject(refusal)
    expect(await change({ url: elsewhere, ...moved })).toMatchObject({ hasMoved: true })
    expect(await subscriptions.current()).toMatchObject([
      { url: elsewhere, signingSecret: secretOf(3), replaced: null },
    ])
  })

  it('do not sign for another server with a secret that cannot be decrypted', async () => {
    await (await open()).add()
    const { handlers, encrypted } = await open({ SVC_USER_CONNECTIONS_ENCRYPTION_KEY: 'a key that replaced it' })
    const secrets = { url: 'https://93.184.216.35/hooks/other', signingSecret: secretOf(2) }
    const change = { owner: 'ada', id: idOf(1), encrypted: await encrypted(secrets) }
    await expect(handlers.changeSubscription(change, testServiceCall)).rejects.toMatchObject({
      details: { parameter: 'url' },
    })
  })

  it('are removed by their owner and invisible to others', async () => {
    const { handlers, add } = await open()
    await add()
    const theirs = { owner: 'eve', id: idOf(1) }
    const refusal = { code: 'not-found', details: { parameter: 'id' } }
    await expect(handlers.removeSubscription(theirs, testServiceCall)).rejects.toMatchObject(refusal)
    await expect(handlers.changeSubscription({ ...theirs, fields }, testServiceCall)).rejects.toMatchObject(refusal)
    await expect(handlers.testSubscription(theirs, testServiceCall)).rejects.toMatchObject(refusal)
    await expect(handlers.subscriptionDeliveries({ ...theirs, limit: 1 }, testServiceCall)).rejects.toMatchObject(
      refusal,
    )
    await handlers.removeSubscription({ owner: 'ada', id: idOf(1) }, testServiceCall)
    expect(await handlers.subscriptions({ owner: 'ada' }, testServiceCall)).toEqual([])
  })

  it(`are at most ${maxSubscriptionsPerOwner} per owner, even if created concurrently`, async () => {
    const { add } = await open()
    const adding = await Promise.allSettled(
      Array.from({ length: maxSubscriptionsPerOwner + 3 }, (_, number) => add(number)),
    )
    expect(adding.filter(({ status }) => status === 'fulfilled')).toHaveLength(maxSubscriptionsPerOwner)
    await expect(add(maxSubscriptionsPerOwner)).rejects.toMatchObject({ code: 'conflict' })
    // Any of the concurrent requests may have been rejected, so another id is used.
    await add(100, 'eve')
  })

  it.each([
    [{ signingSecret: secretOf(1) }, 'url'],
    [{ url }, 'signingSecret'],
    [{ url: 'http://93.184.216.34/x', signingSecret: secretOf(1) }, 'url'],
    [{ url: 'https://127.0.0.1/x', signingSecret: secretOf(1) }, 'url'],
    [{ url: 'https://169.254.169.254/latest', signingSecret: secretOf(1) }, 'url'],
  ])('are rejected with %o', async (secrets, parameter) => {
    const { add } = await open()
    const refused = add(1, 'ada', secrets)
    await expect(refused).rejects.toMatchObject({ code: 'invalid', details: { parameter } })
  })

  it.each([
    ['SVC_FEATURE_WEBHOOK_SUBSCRIPTIONS', { SVC_FEATURE_WEBHOOK_SUBSCRIPTIONS: undefined }],
    ['CONVERSATIONS_EDGESQL', { CONVERSATIONS_EDGESQL: undefined }],
    ['SVC_USER_CONNECTIONS_ENCRYPTION_KEY', { SVC_USER_CONNECTIONS_ENCRYPTION_KEY: undefined }],
  ])('are not created without %s', async (name, more) => {
    const { add, handlers, subscriptions } = await open(more)
    expect(await handlers.subscriptionsOffered({}, testServiceCall)).toEqual({ isOffered: false })
    await expect(add()).rejects.toMatchObject({ code: 'not-implemented', message: expect.stringContaining(name) })
    expect(await subscriptions.current()).toEqual([])
  })

  it('are available in cloud mode by default', async () => {
    const { add, handlers } = await open({ SVC_FEATURE_WEBHOOK_SUBSCRIPTIONS: undefined, SVC_CLOUD_MODE: 'true' })
    expect(await handlers.subscriptionsOffered({}, testServiceCall)).toEqual({ isOffered: true })
    expect(await add()).toMatchObject({ id: idOf(1) })
  })
})
