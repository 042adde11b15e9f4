import { createHmac } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SubscriptionScope } from '#proto/delivery.ts'
import { waitUntil } from '#shared/bus/conformance/implementations.suite.ts'
import { brokenChannelRuleId } from '../delivery/misconfigured-notification.ts'
import { createNotification } from '../delivery/testing/notification.ts'
import { type DeliveryFixture, testServiceCall, openDeliveryFixture } from '../delivery/testing/fixture.ts'
import type { DecryptedSubscription } from '../subscriptions/subscription.ts'
import { allChannels } from './index.ts'
import { type ReceivedRequest, type StrictServer, startStrictServer } from './testing/strict-server.ts'
import { webhookRig } from './testing/webhook.ts'
import { createTestRoute } from '../testing/simulated-host.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const before = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
const inside = { SVC_ALLOW_PRIVATE_HOSTS: 'true' }

/** Computes the signature like a receiver that follows Standard Webhooks. */
const signatureOf = (key: string, { headers, text }: ReceivedRequest): string => {
  const content = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${text}`
  const bytes = Buffer.from(key.slice('whsec_'.length), 'base64')
  return `v1,${createHmac('sha256', bytes).update(content).digest('base64')}`
}

describe('a webhook subscription', () => {
  let opened: AsyncDisposableStack
  let server: StrictServer
  beforeEach(async () => {
    opened = new AsyncDisposableStack()
    server = opened.use(
      await startStrictServer({
        answer: { status: 204, body: '' },
        problem: (received) => {
          if (received.method !== 'POST' || received.path !== '/hook') return 'unknown endpoint'
          if (received.headers['content-type'] !== 'application/json') return 'no JSON'
          const age = Date.now() / 1_000 - Number(received.headers['webhook-timestamp'])
          if (!(age >= -1 && age < 300)) return 'too old'
          const signatures = String(received.headers['webhook-signature']).split(' ')
          return signatures.includes(signatureOf(secret, received)) ? undefined : 'not signed'
        },
      }),
    )
  })
  afterEach(() => opened.disposeAsync())

  const subscription = (more: Partial<DecryptedSubscription> = {}): DecryptedSubscription => ({
    id: 'whs_1',
    name: 'mine',
    enabled: true,
    minSeverity: 'warning',
    matchRule: '*',
    matchHost: '*',
    url: `${server.url}/hook`,
    signingSecret: secret,
    replaced: null,
    ...more,
  })
  const open = async (
    subscriptions: readonly DecryptedSubscription[],
    more: Parameters<typeof openDeliveryFixture>[0] = {},
  ): Promise<DeliveryFixture> =>
    opened.use(
      await openDeliveryFixture({
        channels: allChannels,
        ...more,
        env: { ...inside, ...more.env },
        policy: { ...more.policy, subscriptions },
      }),
    )
  const ended = async (fixture: DeliveryFixture, count = 1) => {
    const list = () =>
      fixture.delivery.handlers.deliveries({ limit: 50, subscriptionsOf: 'everybody' }, testServiceCall)
    await waitUntil(async () => (await list()).length >= count)
    return (await list()).map(({ channel, kind, result }) => `${channel} ${kind} ${result}`).toSorted()
  }

  it('receives messages signed over id, time and body', async () => {
    const fixture = await open([subscription()])
    await fixture.notify(createNotification())
    expect(await ended(fixture)).toEqual(['subscriptions fire sent'])
    expect(server.wrong).toEqual([])
    expect(JSON.parse(server.taken[0]?.text ?? '')).toMatchObject({ version: 1, event: 'fire', rule: 'disk-usage' })
    expect(server.taken[0]?.headers['webhook-id']).toMatch(/^[0-9a-f]{32}$/)
  })

  it('is also signed with the previous secret until it expires', async () => {
    const fixture = await open([subscription({ replaced: { signingSecret: before, untilMs: Date.now() + 60_000 } })])
    await fixture.notify(createNotification())
    await ended(fixture)
    const [sent] = server.taken
    expect(sent && String(sent.headers['webhook-signature']).split(' ')).toEqual(
      sent && [signatureOf(secret, sent), signatureOf(before, sent)],
    )
  })

  it('is retried with the same id and a new signature', async () => {
    server.next({ status: 503 }, { status: 500 })
    const fixture = await open([subscription()])
    await fixture.notify(createNotification())
    expect(await ended(fixture)).toEqual(['subscriptions fire sent'])
    expect(server.received).toHaveLength(3)
    expect(new Set(server.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  })

  it('has dead letters for rejected messages', async () => {
    server.next({ status: 400 })
    const fixture = await open([subscription()])
    await fixture.notify(createNotification())
    expect(await ended(fixture)).toEqual(['subscriptions fire dead'])
    const { letters } = await fixture.delivery.handlers.deadLetters(
      { limit: 10, subscriptionsOf: 'everybody' },
      testServiceCall,
    )
    expect(letters).toMatchObject([{ channel: 'subscriptions', target: 'whs_1', reason: 'HTTP 400' }])
  })

  it('shows its deliveries only to its owner and to administrators', async () => {
    const hook = opened.use(await webhookRig.start())
    server.next({ status: 400 })
    const fixture = await open([subscription()], {
      env: webhookRig.env(hook.url),
      subscriptionIdsOf: async (owner) => (owner === 'ada' ? ['whs_1'] : []),
    })
    await fixture.notify(createNotification())
    await ended(fixture, 2)
    const { deliveries, deadLetters, replayDeadLetter } = fixture.delivery.handlers
    const seenBy = async (subscriptionsOf?: SubscriptionScope) => [
      ...(await deliveries({ limit: 50, subscriptionsOf }, testServiceCall)).map(({ channel }) => channel).toSorted(),
      ...(await deliveries({ limit: 50, channel: 'subscriptions', subscriptionsOf }, testServiceCall)).map(
        ({ target }) => target,
      ),
      ...(await deadLetters({ limit: 50, subscriptionsOf }, testServiceCall)).letters.map(({ reason }) => reason),
    ]
    const all = ['subscriptions', 'webhook', 'whs_1', 'HTTP 400']
    expect(await seenBy('everybody')).toEqual(all)
    expect(await seenBy({ owner: 'ada' })).toEqual(all)
    expect(await seenBy({ owner: 'eve' })).toEqual(['webhook'])
    expect(await seenBy()).toEqual(['webhook'])
    const [letter] = (await deadLetters({ limit: 1, subscriptionsOf: 'everybody' }, testServiceCall)).letters
    const replay = (subscriptionsOf?: SubscriptionScope) =>
      replayDeadLetter({ id: letter?.id ?? '', subscriptionsOf }, testServiceCall)
    for (const other of [undefined, { owner: 'eve' }])
      await expect(replay(other)).rejects.toMatchObject({ code: 'not-found' })
    expect(await replay({ owner: 'ada' })).toMatchObject({ target: 'whs_1' })
  })

  it.each([
    [{ minSeverity: 'critical' as const }, 0],
    [{ enabled: false }, 0],
    [{ matchRule: 'parts*' }, 0],
    [{ matchRule: 'disk*', matchHost: 'Data*' }, 1],
    [{ matchHost: 'other' }, 0],
  ])('receives what its owner selects, regardless of routes: %o', async (more, count) => {
    const routes = [createTestRoute()]
    const hook = opened.use(await webhookRig.start())
    const fixture = await open([subscription(more)], { env: webhookRig.env(hook.url), policy: { routes } })
    await fixture.notify(createNotification())
    expect(await ended(fixture, 1 + count)).toHaveLength(1 + count)
    expect([hook.taken.length, server.taken.length]).toEqual([1, count])
  })

  it('is not an operator target: not listed and not part of misconfiguration reports', async () => {
    const hook = opened.use(await webhookRig.start())
    server.next({ status: 404 })
    const fixture = await open([subscription()], { env: webhookRig.env(hook.url) })
    expect((await fixture.delivery.handlers.alertTargets({}, testServiceCall)).map(({ channel }) => channel)).toEqual([
      'webhook',
    ])
    await fixture.notify(createNotification())
    expect(await ended(fixture, 2)).toEqual(['subscriptions fire dead', 'webhook fire sent'])
    hook.next({ status: 404 })
    await fixture.notify(createNotification({ episode: 'other' }))
    await waitUntil(async () => (await ended(fixture)).includes('webhook fire dead'))
    await fixture.notify(createNotification({ episode: 'third' }))
    await waitUntil(() => hook.taken.length === 2)
    const notified = [...hook.taken, ...server.taken].map(({ text }) => text)
    expect(
      notified.filter((text) => text.includes(brokenChannelRuleId) || text.includes('cannot be delivered')),
    ).toEqual([])
  })

  it('cannot reach internal networks unless allowed', async () => {
    const fixture = await open([subscription()], { env: { SVC_ALLOW_PRIVATE_HOSTS: undefined } })
    await fixture.notify(createNotification())
    expect(await ended(fixture)).toEqual(['subscriptions fire dead'])
    expect(server.received).toEqual([])
  })

  it('never appears in logs or metrics with its address or secret', async () => {
    server.next('silent', { status: 400 })
    const fixture = await open([subscription()], { sendWithinMs: 100 })
    await fixture.notify(createNotification())
    await ended(fixture)
    const output = await fixture.output()
    expect(output).not.toContain('/hook')
    expect(output).not.toContain(secret.slice(6, 30))
  })
})
