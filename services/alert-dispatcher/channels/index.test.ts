import { describe, expect, it } from 'vitest'
import type { CompletedDelivery } from '#proto/delivery.ts'
import { waitUntil } from '#shared/bus/conformance/implementations.suite.ts'
import {
  type DeliveryFixture,
  shortRetryPlan as briefly,
  testServiceCall,
  openDeliveryFixture,
} from '../delivery/testing/fixture.ts'
import { createNotification } from '../delivery/testing/notification.ts'
import type { Notification } from '../notification.ts'
import { channels } from './index.ts'
import { channelRigs } from './testing/index.ts'
import type { ChannelRig } from './testing/channel-rig.ts'
import type { ReceivedRequest } from './testing/strict-server.ts'

it('covers every channel', () => {
  expect(new Set(channelRigs.map(({ id }) => id))).toEqual(new Set(channels.map(({ id }) => id)))
})

/** Id of the installation, which every message contains. */
const origin = /watchhouse-[0-9a-f]{16}/g
/** Hashes derived from the id of the installation. */
const hash = /\b[0-9a-f]{32}\b/g

const fire = (more: Partial<Notification> = {}) => createNotification({ severity: 'critical', ...more })
const recovery = (more: Partial<Notification> = {}) => fire({ kind: 'recover', sequence: 1, ...more })

const named = channelRigs.map((rig) => [rig.form === undefined ? rig.id : `${rig.id}, ${rig.form}`, rig] as const)

/** Starts the server of a rig and opens delivery for its channel. */
const stand = async (rig: ChannelRig) => {
  await using opening = new AsyncDisposableStack()
  const server = opening.use(await rig.start())
  const standIns = Object.fromEntries((rig.standsFor ?? []).map((origin) => [origin, server.url]))
  const opened = opening.move()
  return {
    server,
    texts: () => server.taken.map(rig.textOf),
    open: async (more: Parameters<typeof openDeliveryFixture>[0] = {}): Promise<DeliveryFixture> =>
      opened.use(
        await openDeliveryFixture({
          standIns,
          ...more,
          policy: { ...rig.policy, ...more.policy },
          env: { ...rig.env(server.url), ...more.env },
        }),
      ),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

const ends = (fixture: DeliveryFixture): Promise<CompletedDelivery[]> =>
  fixture.delivery.handlers.deliveries({ limit: 10 }, testServiceCall)
const ended = async (fixture: DeliveryFixture, count = 1): Promise<CompletedDelivery[]> => {
  await waitUntil(async () => (await ends(fixture)).length >= count)
  return (await ends(fixture)).toReversed()
}

// The tests mostly wait, so they run concurrently.
describe.concurrent.each(named)('the channel %s', (_name, rig: ChannelRig) => {
  const bodyOf = rig.readBody ?? (({ text }: ReceivedRequest): unknown => JSON.parse(text))

  it('sends an alert and its recovery once each', async ({ expect }) => {
    await using at = await stand(rig)
    const fixture = await at.open()
    await fixture.notify(fire())
    await ended(fixture)
    await fixture.notify(recovery())
    expect(await ended(fixture, 2)).toMatchObject([{ result: 'sent' }, { result: 'sent' }])
    expect(at.texts()).toEqual([
      expect.stringContaining('CRITICAL: Disk almost full on Database'),
      expect.stringContaining('RECOVERED: Disk almost full on Database'),
    ])
    expect(at.server.wrong).toEqual([])
  })

  it('follows its protocol for any text', async ({ expect }) => {
    await using at = await stand(rig)
    const fixture = await at.open({
      env: {
        HEALTH_ALERT_INSTANCE_NAME: 'prod',
        HEALTH_ALERT_DASHBOARD_URL: 'https://watch.example',
        HEALTH_ALERT_METADATA: 'team=storage',
      },
    })
    await fixture.notify(fire({ sinceMs: 0, atMs: 60_000 }))
    await ended(fixture)
    const wild = '<b>&"\'\\\r\nInjected: x\u2028\u0000 😀 `*_~|{{meta.a}}'
    await fixture.notify(fire({ episode: 'wild', title: wild.repeat(6), offenders: [wild], runbook: wild.repeat(80) }))
    await ended(fixture, 2)
    expect(at.server.wrong).toEqual([])
    const [plain] = at.server.taken
    expect(
      plain && {
        method: plain.method,
        text: bodyOf({ ...plain, text: plain.text.replaceAll(origin, 'watchhouse-0').replaceAll(hash, 'a-hash') }),
      },
    ).toMatchSnapshot()
    for (const one of at.server.taken) expect(JSON.stringify(one)).toMatch(origin)
  })

  const needed = Object.keys(rig.env('http://127.0.0.1')).filter((name) => !rig.stillOnWithout?.includes(name))
  if (needed.length > 0) {
    it('is disabled without any of its required settings', async ({ expect }) => {
      await using at = await stand(rig)
      for (const name of needed) {
        const fixture = await at.open({ env: { [name]: undefined } })
        expect(await fixture.delivery.handlers.alertTargets({}, testServiceCall)).toEqual([])
      }
    })
  }

  it('is disabled by its variable or by the configuration', async ({ expect }) => {
    await using at = await stand(rig)
    const targets = async (more: Parameters<typeof openDeliveryFixture>[0]) =>
      (await (await at.open(more)).delivery.handlers.alertTargets({}, testServiceCall)).length
    expect(await targets({})).toBeGreaterThan(0)
    expect(await targets({ env: { [rig.switchVariable]: 'off' } })).toBe(0)
    expect(await targets({ policy: { channels: { [rig.id]: { enabled: false, variables: {} } } } })).toBe(0)
    const overruled = { policy: { channels: { [rig.id]: { enabled: true, variables: {} } } } }
    expect(await targets({ ...overruled, env: { [rig.switchVariable]: 'off' } })).toBeGreaterThan(0)
  })

  it.for(['warning', 'critical', 'nonsense', undefined])(
    'applies its minimum severity %s',
    async (minimum, { expect }) => {
      await using at = await stand(rig)
      const fixture = await at.open({ env: { [rig.minSeverityVariable]: minimum } })
      const least = minimum === 'warning' || minimum === 'critical' ? minimum : rig.minimum
      await fixture.notify(createNotification({ episode: 'mild', severity: 'warning' }))
      await fixture.notify(fire())
      await ended(fixture, least === 'warning' ? 2 : 1)
      expect(at.texts().filter((text) => text.includes('WARNING'))).toHaveLength(least === 'warning' ? 1 : 0)
    },
  )

  it('waits as long as a rate-limited response requests', async ({ expect }) => {
    await using at = await stand(rig)
    const fixture = await at.open()
    at.server.next({ status: 429, headers: { 'retry-after': '0.2' } })
    const began = performance.now()
    await fixture.notify(fire())
    expect(await ended(fixture)).toMatchObject([{ result: 'sent', attempts: 2 }])
    // Without a requested delay, the retry would follow after 20 ms.
    expect(performance.now() - began).toBeGreaterThan(200)
    expect(at.texts()).toHaveLength(1)
  })

  it.for([500, 502, 503, 408])('retries after status %s', async (status, { expect }) => {
    await using at = await stand(rig)
    // Limits retry delays to 200 ms. Longer delays are covered by the tests of each channel.
    const fixture = await at.open({ retry: { ...briefly, maxWaitMs: 200 } })
    at.server.next({ status }, { status })
    await fixture.notify(fire())
    expect(await ended(fixture)).toMatchObject([{ result: 'sent', attempts: 3 }])
    expect([at.server.received.length, at.server.taken.length]).toEqual([3, 1])
  })

  it('gives up a rejected message and sends the next', async ({ expect }) => {
    await using at = await stand(rig)
    const fixture = await at.open()
    at.server.next({ status: 422, body: 'no' })
    await fixture.notify(fire())
    expect(await ended(fixture)).toMatchObject([{ result: 'dead', reason: 'HTTP 422', attempts: 1 }])
    await fixture.notify(fire({ episode: 'next' }))
    await ended(fixture, 2)
    expect(at.texts()).toHaveLength(1)
    const { letters } = await fixture.delivery.handlers.deadLetters({ limit: 10 }, testServiceCall)
    expect(letters).toMatchObject([{ channel: rig.id, reason: 'HTTP 422', title: 'Disk almost full' }])
  })

  it('is misconfigured while its address is invalid, and sends the page once it works', async ({ expect }) => {
    await using at = await stand(rig)
    const fixture = await at.open()
    const { promise: mended, resolve: mend } = Promise.withResolvers<void>()
    at.server.next(rig.dead, mended)
    await fixture.notify(fire())
    const broken = async () =>
      (await fixture.delivery.handlers.alertTargets({}, testServiceCall)).filter((target) => target.broken)
    await waitUntil(async () => (await broken()).length === 1)
    mend()
    expect(await ended(fixture)).toMatchObject([{ result: 'sent', attempts: 2 }])
    expect(await broken()).toEqual([])
  })

  it('retries without a response and if the server is unreachable', async ({ expect }) => {
    await using at = await stand(rig)
    const fixture = await at.open({ sendWithinMs: 700 })
    at.server.next('silent')
    await fixture.notify(fire())
    expect(await ended(fixture)).toMatchObject([{ result: 'sent', attempts: 2 }])
    await at.server[Symbol.asyncDispose]()
    await fixture.notify(fire({ episode: 'next' }))
    await waitUntil(async () => (await fixture.output()).includes('cannot be reached'))
    expect(at.texts()).toHaveLength(1)
  })

  it('does not follow redirects', async ({ expect }) => {
    await using at = await stand(rig)
    const fixture = await at.open()
    at.server.next({ status: 302, headers: { location: `${at.server.url}/elsewhere` } })
    await fixture.notify(fire())
    expect(await ended(fixture)).toMatchObject([{ result: 'sent', attempts: 2 }])
    expect(at.server.received.map(({ path }) => path).filter((path) => path.endsWith('/elsewhere'))).toEqual([])
  })

  it('reveals its secrets only to its server, in every failure', { tags: ['long'] }, async ({ expect }) => {
    await using at = await stand(rig)
    const fixture = await at.open({ sendWithinMs: 700 })
    const secrets = rig.secrets(at.server.url)
    at.server.next({ status: 500, body: secrets.join(' ') }, 'silent', { status: 422, body: secrets.join(' ') })
    await fixture.notify(fire())
    await ended(fixture)
    at.server.next({ status: 302, headers: { location: secrets.join('') } })
    await fixture.notify(fire({ episode: 'next' }))
    await ended(fixture, 2)
    const { handlers } = fixture.delivery
    const answers = await Promise.all([
      handlers.deliveries({ limit: 10 }, testServiceCall),
      handlers.alertTargets({}, testServiceCall),
      handlers.deadLetters({ limit: 10 }, testServiceCall),
    ])
    const everything = `${await fixture.output()} ${JSON.stringify(answers)}`
    expect(everything).toContain('notification failed')
    for (const secret of secrets) expect(everything).not.toContain(secret)
  })

  if (rig.ownAddress === undefined) {
    it('reaches a saved address only through the guarded network', async ({ expect }) => {
      await using at = await stand(rig)
      const values = rig.env(at.server.url)
      const variables = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value ?? '']))
      const unset = Object.fromEntries(Object.keys(values).map((name) => [name, undefined]))
      // A paging channel retries until the lifetime ends, because the operator may correct the address.
      const retry = { ...briefly, lifeMs: { paging: 200, others: 200 } }
      const policy = rig.savedPolicy?.(at.server.url) ?? { channels: { [rig.id]: { variables } } }
      const fixture = await at.open({ env: unset, policy, retry })
      await fixture.notify(fire())
      expect(await ended(fixture)).toMatchObject([{ result: 'dead', reason: expect.stringContaining('not allowed') }])
      expect(at.server.received).toEqual([])
    })
  }
})
