import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Delivered } from '#proto/delivery.ts'
import { until } from '#shared/bus/conformance/implementations.suite.ts'
import { type Place, briefRetry as briefly, call, openPlace } from '../delivery/testing/place.ts'
import { noticeOf } from '../delivery/testing/notice.ts'
import type { Notice } from '../notice.ts'
import { channels } from './index.ts'
import { rigs } from './testing/index.ts'
import type { Rig } from './testing/rig.ts'
import type { Received, StrictServer } from './testing/strict-server.ts'

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

describe.each(named)('the channel %s', (_name, rig: Rig) => {
  let server: StrictServer
  let opened: AsyncDisposableStack
  beforeEach(async () => {
    opened = new AsyncDisposableStack()
    server = opened.use(await rig.start())
  })
  afterEach(() => opened.disposeAsync())

  const open = async (more: Parameters<typeof openPlace>[0] = {}): Promise<Place> =>
    opened.use(
      await openPlace({
        standIns: standIns(),
        ...more,
        policy: { ...rig.policy, ...more.policy },
        env: { ...rig.env(server.url), ...more.env },
      }),
    )
  const standIns = () => Object.fromEntries((rig.standsFor ?? []).map((origin) => [origin, server.url]))
  const ends = (place: Place): Promise<Delivered[]> => place.delivery.handlers.deliveries({ limit: 10 }, call)
  const ended = async (place: Place, count = 1): Promise<Delivered[]> => {
    await until(async () => (await ends(place)).length >= count)
    return (await ends(place)).toReversed()
  }
  const texts = () => server.taken.map(rig.textOf)
  const bodyOf = rig.readBody ?? (({ text }: Received): unknown => JSON.parse(text))

  it('tells a fire and its recovery, each once', async () => {
    const place = await open()
    await place.tell(fire())
    await ended(place)
    await place.tell(recovery())
    expect(await ended(place, 2)).toMatchObject([{ result: 'sent' }, { result: 'sent' }])
    expect(texts()).toEqual([
      expect.stringContaining('CRITICAL: Disk almost full on Database'),
      expect.stringContaining('RECOVERED: Disk almost full on Database'),
    ])
    expect(server.wrong).toEqual([])
  })

  it('sends what its protocol asks for, whatever the texts are', async () => {
    const place = await open({
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
    expect(server.wrong).toEqual([])
    const [plain] = server.taken
    expect(
      plain && {
        method: plain.method,
        text: bodyOf({ ...plain, text: plain.text.replaceAll(origin, 'watchhouse-0').replaceAll(hash, 'a-hash') }),
      },
    ).toMatchSnapshot()
    for (const one of server.taken) expect(JSON.stringify(one)).toMatch(origin)
  })

  const needed = Object.keys(rig.env('http://127.0.0.1')).filter((name) => !rig.stillOnWithout?.includes(name))
  if (needed.length > 0) {
    it('is off without any one of its settings', async () => {
      for (const name of needed) {
        const place = await open({ env: { [name]: undefined } })
        expect(await place.delivery.handlers.alertTargets({}, call)).toEqual([])
      }
    })
  }

  it('is off when it is switched off, by its variable or by the operator', async () => {
    const targets = async (more: Parameters<typeof openPlace>[0]) =>
      (await (await open(more)).delivery.handlers.alertTargets({}, call)).length
    expect(await targets({})).toBeGreaterThan(0)
    expect(await targets({ env: { [rig.switchVariable]: 'off' } })).toBe(0)
    expect(await targets({ policy: { channels: { [rig.id]: { enabled: false, variables: {} } } } })).toBe(0)
    const overruled = { policy: { channels: { [rig.id]: { enabled: true, variables: {} } } } }
    expect(await targets({ ...overruled, env: { [rig.switchVariable]: 'off' } })).toBeGreaterThan(0)
  })

  it.each(['warning', 'critical', 'nonsense', undefined])('tells from its floor %s on', async (floor) => {
    const place = await open({ env: { [rig.floorVariable]: floor } })
    const least = floor === 'warning' || floor === 'critical' ? floor : rig.floor
    await place.tell(noticeOf({ episode: 'mild', severity: 'warning' }))
    await place.tell(fire())
    await ended(place, least === 'warning' ? 2 : 1)
    expect(texts().filter((text) => text.includes('WARNING'))).toHaveLength(least === 'warning' ? 1 : 0)
  })

  it('waits as long as it is asked to when it is sent too much', async () => {
    const place = await open()
    server.next({ status: 429, headers: { 'retry-after': '1' } })
    const began = performance.now()
    await place.tell(fire())
    expect(await ended(place)).toMatchObject([{ result: 'sent', attempts: 2 }])
    // Its own wait would have been 20 ms.
    expect(performance.now() - began).toBeGreaterThan(1_000)
    expect(texts()).toHaveLength(1)
  })

  it.each([500, 502, 503, 408])('tries again after a %s', async (status) => {
    const place = await open()
    server.next({ status }, { status })
    await place.tell(fire())
    expect(await ended(place)).toMatchObject([{ result: 'sent', attempts: 3 }])
    expect([server.received.length, server.taken.length]).toEqual([3, 1])
  })

  it('gives up what is refused for good, and tells the next', async () => {
    const place = await open()
    server.next({ status: 422, body: 'no' })
    await place.tell(fire())
    expect(await ended(place)).toMatchObject([{ result: 'dead', reason: 'answered 422', attempts: 1 }])
    await place.tell(fire({ episode: 'next' }))
    await ended(place, 2)
    expect(texts()).toHaveLength(1)
    const { letters } = await place.delivery.handlers.deadLetters({ limit: 10 }, call)
    expect(letters).toMatchObject([{ channel: rig.id, reason: 'answered 422', title: 'Disk almost full' }])
  })

  it('is known as broken when its address is dead, and takes the page when it is mended', async () => {
    const place = await open({ retry: { ...briefly, waitsMs: [800] } })
    server.next(rig.dead)
    await place.tell(fire())
    const broken = async () => (await place.delivery.handlers.alertTargets({}, call)).filter((target) => target.broken)
    await until(async () => (await broken()).length === 1)
    expect(await ended(place)).toMatchObject([{ result: 'sent', attempts: 2 }])
    expect(await broken()).toEqual([])
  })

  it('tries again when no answer comes, and when there is nobody', async () => {
    const place = await open({ sendWithinMs: 200 })
    server.next('silent')
    await place.tell(fire())
    expect(await ended(place)).toMatchObject([{ result: 'sent', attempts: 2 }])
    await server[Symbol.asyncDispose]()
    await place.tell(fire({ episode: 'next' }))
    await until(async () => (await place.said()).includes('cannot be reached'))
    expect(texts()).toHaveLength(1)
  })

  it('does not follow elsewhere', async () => {
    const place = await open()
    server.next({ status: 302, headers: { location: `${server.url}/elsewhere` } })
    await place.tell(fire())
    expect(await ended(place)).toMatchObject([{ result: 'sent', attempts: 2 }])
    expect(server.received.map(({ path }) => path).filter((path) => path.endsWith('/elsewhere'))).toEqual([])
  })

  it('tells its secrets to nobody but its server, however it fails', async () => {
    const place = await open({ sendWithinMs: 200 })
    const secrets = rig.secrets(server.url)
    server.next({ status: 500, body: secrets.join(' ') }, 'silent', { status: 422, body: secrets.join(' ') })
    await place.tell(fire())
    await ended(place)
    server.next({ status: 302, headers: { location: secrets.join('') } })
    await place.tell(fire({ episode: 'next' }))
    await ended(place, 2)
    const { handlers } = place.delivery
    const answers = await Promise.all([
      handlers.deliveries({ limit: 10 }, call),
      handlers.alertTargets({}, call),
      handlers.deadLetters({ limit: 10 }, call),
    ])
    const everything = `${await place.said()} ${JSON.stringify(answers)}`
    expect(everything).toContain('alert not delivered')
    for (const secret of secrets) expect(everything).not.toContain(secret)
  })

  if (rig.ownAddress === undefined) {
    it('asks a saved address through the guard', async () => {
      const given = rig.env(server.url)
      const variables = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, value ?? '']))
      const unset = Object.fromEntries(Object.keys(given).map((name) => [name, undefined]))
      const place = await open({ env: unset, policy: { channels: { [rig.id]: { variables } } } })
      await place.tell(fire())
      expect(await ended(place)).toMatchObject([
        { result: 'dead', reason: expect.stringContaining('may not be asked') },
      ])
      expect(server.received).toEqual([])
    })
  }
})
