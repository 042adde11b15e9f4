import { describe, expect, it } from 'vitest'
import type { Delivered } from '#proto/delivery.ts'
import { until } from '#shared/bus/conformance/implementations.suite.ts'
import { type Place, briefRetry as briefly, call, openPlace } from '../delivery/testing/place.ts'
import { noticeOf } from '../delivery/testing/notice.ts'
import type { Notice } from '../notice.ts'
import { channels } from './index.ts'
import { rigs } from './testing/index.ts'
import type { Rig } from './testing/rig.ts'
import type { Received } from './testing/strict-server.ts'

it('tests every channel', () => {
  expect(new Set(rigs.map(({ id }) => id))).toEqual(new Set(channels.map(({ id }) => id)))
})

/** The name of the installation, which all that is sent carries. */
const origin = /watchhouse-[0-9a-f]{16}/g
/** What is made of that name. */
const hash = /\b[0-9a-f]{32}\b/g

const fire = (more: Partial<Notice> = {}) => noticeOf({ severity: 'critical', ...more })
const recovery = (more: Partial<Notice> = {}) => fire({ kind: 'recover', sequence: 1, ...more })

const named = rigs.map((rig) => [rig.form === undefined ? rig.id : `${rig.id}, ${rig.form}`, rig] as const)

/** A channel and the server of the other end. */
const stand = async (rig: Rig) => {
  await using opening = new AsyncDisposableStack()
  const server = opening.use(await rig.start())
  const standIns = Object.fromEntries((rig.standsFor ?? []).map((origin) => [origin, server.url]))
  const opened = opening.move()
  return {
    server,
    texts: () => server.taken.map(rig.textOf),
    open: async (more: Parameters<typeof openPlace>[0] = {}): Promise<Place> =>
      opened.use(
        await openPlace({
          standIns,
          ...more,
          policy: { ...rig.policy, ...more.policy },
          env: { ...rig.env(server.url), ...more.env },
        }),
      ),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

const ends = (place: Place): Promise<Delivered[]> => place.delivery.handlers.deliveries({ limit: 10 }, call)
const ended = async (place: Place, count = 1): Promise<Delivered[]> => {
  await until(async () => (await ends(place)).length >= count)
  return (await ends(place)).toReversed()
}

// Side by side, since most of the time is waited for.
describe.concurrent.each(named)('the channel %s', (_name, rig: Rig) => {
  const bodyOf = rig.readBody ?? (({ text }: Received): unknown => JSON.parse(text))

  it('tells a fire and its recovery, each once', async ({ expect }) => {
    await using at = await stand(rig)
    const place = await at.open()
    await place.tell(fire())
    await ended(place)
    await place.tell(recovery())
    expect(await ended(place, 2)).toMatchObject([{ result: 'sent' }, { result: 'sent' }])
    expect(at.texts()).toEqual([
      expect.stringContaining('CRITICAL: Disk almost full on Database'),
      expect.stringContaining('RECOVERED: Disk almost full on Database'),
    ])
    expect(at.server.wrong).toEqual([])
  })

  it('sends what its protocol asks for, whatever the texts are', async ({ expect }) => {
    await using at = await stand(rig)
    const place = await at.open({
      env: {
        HEALTH_ALERT_INSTANCE_NAME: 'prod',
        HEALTH_ALERT_DASHBOARD_URL: 'https://watch.example',
        HEALTH_ALERT_METADATA: 'team=storage',
      },
    })
    await place.tell(fire({ sinceMs: 0, atMs: 60_000 }))
    await ended(place)
    const wild = '<b>&"\'\\\r\nInjected: x\u2028\u0000 😀 `*_~|{{meta.a}}'
    await place.tell(fire({ episode: 'wild', title: wild.repeat(6), offenders: [wild], runbook: wild.repeat(80) }))
    await ended(place, 2)
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
    it('is off without any one of its settings', async ({ expect }) => {
      await using at = await stand(rig)
      for (const name of needed) {
        const place = await at.open({ env: { [name]: undefined } })
        expect(await place.delivery.handlers.alertTargets({}, call)).toEqual([])
      }
    })
  }

  it('is off when it is switched off, by its variable or by the operator', async ({ expect }) => {
    await using at = await stand(rig)
    const targets = async (more: Parameters<typeof openPlace>[0]) =>
      (await (await at.open(more)).delivery.handlers.alertTargets({}, call)).length
    expect(await targets({})).toBeGreaterThan(0)
    expect(await targets({ env: { [rig.switchVariable]: 'off' } })).toBe(0)
    expect(await targets({ policy: { channels: { [rig.id]: { enabled: false, variables: {} } } } })).toBe(0)
    const overruled = { policy: { channels: { [rig.id]: { enabled: true, variables: {} } } } }
    expect(await targets({ ...overruled, env: { [rig.switchVariable]: 'off' } })).toBeGreaterThan(0)
  })

  it.for(['warning', 'critical', 'nonsense', undefined])('tells from its floor %s on', async (floor, { expect }) => {
    await using at = await stand(rig)
    const place = await at.open({ env: { [rig.floorVariable]: floor } })
    const least = floor === 'warning' || floor === 'critical' ? floor : rig.floor
    await place.tell(noticeOf({ episode: 'mild', severity: 'warning' }))
    await place.tell(fire())
    await ended(place, least === 'warning' ? 2 : 1)
    expect(at.texts().filter((text) => text.includes('WARNING'))).toHaveLength(least === 'warning' ? 1 : 0)
  })

  it('waits as long as it is asked to when it is sent too much', async ({ expect }) => {
    await using at = await stand(rig)
    const place = await at.open()
    at.server.next({ status: 429, headers: { 'retry-after': '0.2' } })
    const began = performance.now()
    await place.tell(fire())
    expect(await ended(place)).toMatchObject([{ result: 'sent', attempts: 2 }])
    // Its own wait would have been 20 ms.
    expect(performance.now() - began).toBeGreaterThan(200)
    expect(at.texts()).toHaveLength(1)
  })

  it.for([500, 502, 503, 408])('tries again after a %s', async (status, { expect }) => {
    await using at = await stand(rig)
    // Some ask for seconds, which their own tests look at.
    const place = await at.open({ retry: { ...briefly, longestWaitMs: 200 } })
    at.server.next({ status }, { status })
    await place.tell(fire())
    expect(await ended(place)).toMatchObject([{ result: 'sent', attempts: 3 }])
    expect([at.server.received.length, at.server.taken.length]).toEqual([3, 1])
  })

  it('gives up what is refused for good, and tells the next', async ({ expect }) => {
    await using at = await stand(rig)
    const place = await at.open()
    at.server.next({ status: 422, body: 'no' })
    await place.tell(fire())
    expect(await ended(place)).toMatchObject([{ result: 'dead', reason: 'answered 422', attempts: 1 }])
    await place.tell(fire({ episode: 'next' }))
    await ended(place, 2)
    expect(at.texts()).toHaveLength(1)
    const { letters } = await place.delivery.handlers.deadLetters({ limit: 10 }, call)
    expect(letters).toMatchObject([{ channel: rig.id, reason: 'answered 422', title: 'Disk almost full' }])
  })

  it('is known as broken when its address is dead, and takes the page when it is mended', async ({ expect }) => {
    await using at = await stand(rig)
    const place = await at.open()
    const { promise: mended, resolve: mend } = Promise.withResolvers<void>()
    at.server.next(rig.dead, mended)
    await place.tell(fire())
    const broken = async () => (await place.delivery.handlers.alertTargets({}, call)).filter((target) => target.broken)
    await until(async () => (await broken()).length === 1)
    mend()
    expect(await ended(place)).toMatchObject([{ result: 'sent', attempts: 2 }])
    expect(await broken()).toEqual([])
  })

  it('tries again when no answer comes, and when there is nobody', async ({ expect }) => {
    await using at = await stand(rig)
    const place = await at.open({ sendWithinMs: 700 })
    at.server.next('silent')
    await place.tell(fire())
    expect(await ended(place)).toMatchObject([{ result: 'sent', attempts: 2 }])
    await at.server[Symbol.asyncDispose]()
    await place.tell(fire({ episode: 'next' }))
    await until(async () => (await place.said()).includes('cannot be reached'))
    expect(at.texts()).toHaveLength(1)
  })

  it('does not follow elsewhere', async ({ expect }) => {
    await using at = await stand(rig)
    const place = await at.open()
    at.server.next({ status: 302, headers: { location: `${at.server.url}/elsewhere` } })
    await place.tell(fire())
    expect(await ended(place)).toMatchObject([{ result: 'sent', attempts: 2 }])
    expect(at.server.received.map(({ path }) => path).filter((path) => path.endsWith('/elsewhere'))).toEqual([])
  })

  it('tells its secrets to nobody but its at.server, however it fails', { tags: ['long'] }, async ({ expect }) => {
    await using at = await stand(rig)
    const place = await at.open({ sendWithinMs: 700 })
    const secrets = rig.secrets(at.server.url)
    at.server.next({ status: 500, body: secrets.join(' ') }, 'silent', { status: 422, body: secrets.join(' ') })
    await place.tell(fire())
    await ended(place)
    at.server.next({ status: 302, headers: { location: secrets.join('') } })
    await place.tell(fire({ episode: 'next' }))
    await ended(place, 2)
    const { handlers } = place.delivery
    const answers = await Promise.all([
      handlers.deliveries({ limit: 10 }, call),
      handlers.alertTargets({}, call),
      handlers.deadLetters({ limit: 10 }, call),
    ])
    const everything = `${await place.said()} ${JSON.stringify(answers)}`
    expect(everything).toContain('notification failed')
    for (const secret of secrets) expect(everything).not.toContain(secret)
  })

  if (rig.ownAddress === undefined) {
    it('asks a saved address through the guard', async ({ expect }) => {
      await using at = await stand(rig)
      const given = rig.env(at.server.url)
      const variables = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, value ?? '']))
      const unset = Object.fromEntries(Object.keys(given).map((name) => [name, undefined]))
      // A page would go on as long as it lives, for somebody may mend its target.
      const retry = { ...briefly, lifeMs: { paging: 200, others: 200 } }
      const policy = rig.savedPolicy?.(at.server.url) ?? { channels: { [rig.id]: { variables } } }
      const place = await at.open({ env: unset, policy, retry })
      await place.tell(fire())
      expect(await ended(place)).toMatchObject([
        { result: 'dead', reason: expect.stringContaining('may not be asked') },
      ])
      expect(at.server.received).toEqual([])
    })
  }
})
