import { createClock } from '#shared/time/clock.ts'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import type { Store } from '#shared/store/store.ts'
import { type Dispatchers, startDispatchers } from '../../testing/alerts/dispatchers.ts'
import {
  type DispatcherBackends,
  type DispatcherBackend,
  openDispatcherBackends,
} from '../../testing/alerts/dispatcher-backends.ts'
import type { FakeMonitoredHosts } from '../../testing/alerts/fake-monitored-hosts.ts'
import { retryUntil } from '../../testing/fetch-json.ts'
import { getHostRecordKey } from '../conditions/condition.ts'
import { FleetRecord, fleetRecordKey } from '../conditions/fleet-record.ts'
import { createTestRule } from '../testing/simulated-host.ts'

let ground: DispatcherBackends
beforeAll(async () => {
  ground = await openDispatcherBackends('memory')
})
afterAll(() => ground[Symbol.asyncDispose]())

interface Chosen {
  names?: string[]
  env?: Record<string, string>
  place?: DispatcherBackend
}

/** Opens a dispatcher with memory stores, whose hosts a test can block. */
const open = async ({ names = ['one', 'two'], env = {}, place }: Chosen = {}) => {
  const watched: FakeMonitoredHosts = { names, values: {} }
  const clock = { ms: Date.UTC(2026, 0, 5, 12) }
  const dispatchers = await startDispatchers({
    place: place ?? (await ground.next()),
    clock: createClock(() => clock.ms),
    env: { HEALTH_ALERT_ENABLED: 'true', ...env },
    watched,
  })
  return { watched, clock, dispatchers, [Symbol.asyncDispose]: () => dispatchers[Symbol.asyncDispose]() }
}

/** Blocks the measurement of a host until it is released. */
const hold = (watched: FakeMonitoredHosts, held: string) => {
  const [arrived, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  watched.onMeasure = async (hostKey) => {
    if (hostKey !== held) return
    arrived.resolve()
    await released.promise
  }
  return { arrived: arrived.promise, release: () => released.resolve() }
}

const sweep = ({ alerts, call }: Dispatchers, signal?: AbortSignal) =>
  alerts.sweep({}, { ...call(), ...(signal && { signal }) })
const firing = ({ alerts, call }: Dispatchers) => alerts.firing({}, call())
const names = (count: number) => Array.from({ length: count }, (_, index) => `host-${index}`)

describe('a sweep', () => {
  it('returns its results', async () => {
    await using rig = await open()
    rig.watched.values = { 'one/disk': 85, 'one/memory': 95, 'two/memory': null }
    const swept = await sweep(rig.dispatchers)
    expect(swept).toEqual({
      enabled: true,
      hosts: 2,
      checks: 6,
      findings: 2,
      firing: 2,
      dispatched: 2,
      messages: 2,
      suppressed: {},
      recoveries: 0,
      unknown: 1,
      tookMs: expect.any(Number),
    })
    expect(await firing(rig.dispatchers)).toEqual([{ hostKey: 'one', conditions: 2 }])
    expect(await rig.dispatchers.alerts.worstFindings({}, rig.dispatchers.call())).toEqual([
      { hostKey: 'one', severity: 'critical', title: 'memory' },
    ])
  })

  it('returns held notifications by reason', async () => {
    await using rig = await open({ env: { HEALTH_ALERT_ENABLED: 'off' } })
    rig.watched.values = { 'one/disk': 85 }
    expect(await sweep(rig.dispatchers)).toMatchObject({ firing: 1, dispatched: 0, suppressed: { disabled: 1 } })
  })

  it('logs hosts that could not be measured, one line per cause', async () => {
    await using rig = await open({ names: names(30) })
    rig.watched.onMeasure = async (hostKey) => {
      if (hostKey === 'host-3') throw new ServiceError('timeout', 'it took too long')
      if (hostKey !== 'host-7') throw new ServiceError('unavailable', 'measurement failed')
    }
    expect(await sweep(rig.dispatchers)).toMatchObject({ hosts: 30, unknown: 87, firing: 0 })
    const notified = rig.dispatchers
      .logged()
      .split('\n')
      .flatMap((line) => (line.includes('hosts not measured') ? [JSON.parse(line)] : []))
    expect(notified.map(({ level, hosts, named, err }) => [level, hosts, named.length, err.message])).toEqual(
      expect.arrayContaining([
        ['warn', 1, 1, 'it took too long'],
        ['warn', 28, 10, 'measurement failed'],
      ]),
    )
    expect(notified).toHaveLength(2)
  })

  it('continues if its caller disconnects', async () => {
    await using rig = await open()
    rig.watched.values = { 'two/disk': 85 }
    const held = hold(rig.watched, 'two')
    const leaving = new AbortController()
    const requests = sweep(rig.dispatchers, leaving.signal)
    await held.arrived
    leaving.abort(new Error('the caller left'))
    await expect(requests).rejects.toThrow('the caller left')
    held.release()
    await retryUntil(
      () => firing(rig.dispatchers),
      (hosts) => hosts.length === 1,
    )
  })

  it('rejects a second sweep while it runs', async () => {
    await using rig = await open()
    const held = hold(rig.watched, 'two')
    const first = sweep(rig.dispatchers)
    await held.arrived
    await expect(sweep(rig.dispatchers)).rejects.toMatchObject({ code: 'conflict' })
    held.release()
    expect(await first).toMatchObject({ hosts: 2 })
    expect(await sweep(rig.dispatchers)).toMatchObject({ hosts: 2 })
  })

  it('ends with its dispatcher and releases the lease', async () => {
    const place = await ground.next()
    const rig = await open({ place })
    const held = hold(rig.watched, 'two')
    const cutOff = expect(sweep(rig.dispatchers)).rejects.toMatchObject({ code: 'unavailable' })
    await held.arrived
    const stopped = rig[Symbol.asyncDispose]()
    held.release()
    await Promise.all([cutOff, stopped])
    await using next = await open({ place })
    expect(await sweep(next.dispatchers)).toMatchObject({ hosts: 2 })
  })

  it('measures 128 hosts at once, and failed ones last, 16 at once', async () => {
    await using rig = await open({ names: names(300) })
    const down = names(40)
    const [inFlight, most] = [
      { all: 0, down: 0 },
      { all: 0, down: 0 },
    ]
    let order: string[] = []
    rig.watched.onMeasure = async (hostKey) => {
      order.push(hostKey)
      const isDown = down.includes(hostKey) ? 1 : 0
      most.all = Math.max(most.all, (inFlight.all += 1))
      most.down = Math.max(most.down, (inFlight.down += isDown))
      await new Promise((resolve) => setImmediate(resolve))
      inFlight.all -= 1
      inFlight.down -= isDown
    }
    rig.watched.values = Object.fromEntries(down.map((host) => [`${host}/host-unreachable`, 1]))
    await sweep(rig.dispatchers)
    expect(most).toEqual({ all: 128, down: 40 })
    order = []
    Object.assign(most, { all: 0, down: 0 })
    await sweep(rig.dispatchers)
    expect(order.slice(-40).toSorted()).toEqual(down.toSorted())
    expect(most).toEqual({ all: 128, down: 16 })
  })

  it('evaluates expensive rules in every third sweep, and always while not ok', async () => {
    await using rig = await open({ names: ['one'] })
    rig.watched.rules = [createTestRule({ id: 'dear', everySweeps: 3 })]
    const requests: boolean[] = []
    rig.watched.onMeasure = async (_host, rules) => void requests.push(rules.includes('dear'))
    for (let count = 0; count < 7; count++) await sweep(rig.dispatchers)
    rig.watched.values = { 'one/dear': 85 }
    for (let count = 7; count < 12; count++) await sweep(rig.dispatchers)
    expect(requests.map(Number).join('')).toBe('100100100111')
  })

  it('continues if one host cannot be measured, and keeps its conditions', async () => {
    await using rig = await open()
    rig.watched.values = { 'one/disk': 85 }
    await sweep(rig.dispatchers)
    rig.watched.onMeasure = async (hostKey) => {
      if (hostKey === 'one') throw new ServiceError('busy', 'the host has enough to do')
    }
    expect(await sweep(rig.dispatchers)).toMatchObject({ hosts: 2, unknown: 3, firing: 1, dispatched: 0 })
    const checks = await rig.dispatchers.alerts.alertChecks({ hostKey: 'one' }, rig.dispatchers.call())
    expect(checks[0]).toMatchObject({ status: 'unknown', reason: 'the host has enough to do' })
  })

  it('is not successful if a host cannot be processed', async () => {
    const place = await ground.next()
    await using rig = await open({ place })
    await using store = await place.openStore()
    const succeededAtMs = async () => (await store.get(fleetRecordKey, FleetRecord))?.succeededAtMs
    await sweep(rig.dispatchers)
    const before = await succeededAtMs()
    await store.update(getHostRecordKey('one'), z.unknown(), () => ({ value: 'damaged' }))
    rig.clock.ms += 60_000
    await sweep(rig.dispatchers)
    expect(await succeededAtMs()).toBe(before)
    await store.update(getHostRecordKey('one'), z.unknown(), () => ({ value: undefined }))
    await sweep(rig.dispatchers)
    expect(await succeededAtMs()).toBe(rig.clock.ms)
  })

  it('fails if the store fails, and the next one sends the missing notifications', async () => {
    const place = await ground.next()
    let isAway = false
    const failing = async (): Promise<Store> => {
      const store = await place.openStore()
      return {
        ...store,
        update: async (key, schema, step, fence) => {
          if (isAway && key === 'alerts:host:two')
            throw new ServiceError('unavailable', 'the state store does not answer')
          return store.update(key, schema, step, fence)
        },
      }
    }
    await using rig = await open({ place: { ...place, openStore: failing } })
    rig.watched.values = { 'one/disk': 85, 'two/disk': 85 }
    isAway = true
    await expect(sweep(rig.dispatchers)).rejects.toMatchObject({ code: 'unavailable' })
    isAway = false
    expect(await sweep(rig.dispatchers)).toMatchObject({ firing: 2, dispatched: 1 })
  })

  it.each([
    [{ SVC_HEALTH_SWEEP_ENABLED: 'off' }, false],
    [{ SVC_HEALTH_SWEEP_ENABLED: 'no', CRON_SECRET: 'secret' }, false],
    [{ SVC_HEALTH_SWEEP_ENABLED: '' }, false],
    [{ SVC_HEALTH_SWEEP_ENABLED: 'perhaps' }, false],
    [{ SVC_HEALTH_SWEEP_ENABLED: 'perhaps', CRON_SECRET: 'secret' }, true],
    [{ SVC_HEALTH_SWEEP_ENABLED: 'on' }, true],
  ])('runs with %j: %s', async (env, runs) => {
    await using rig = await open({ env })
    expect(await sweep(rig.dispatchers)).toMatchObject({ enabled: runs, hosts: runs ? 2 : 0 })
  })

  it('starts after its interval, even if the clock was set back', async () => {
    await using rig = await open({ env: { SVC_HEALTH_SWEEP_INTERVAL_MINUTES: '5' } })
    const swept: string[] = []
    rig.watched.onMeasure = async (hostKey) => void swept.push(hostKey)
    const sweepsBy = async (ms: number) => {
      rig.clock.ms += ms
      await rig.dispatchers.ticked()
      await rig.dispatchers.ticked()
      return swept.length / 2
    }
    expect(await sweepsBy(0)).toBe(1)
    expect(await sweepsBy(299_999)).toBe(1)
    expect(await sweepsBy(1)).toBe(2)
    expect(await sweepsBy(-86_400_000)).toBe(3)
  })
})

describe('a heartbeat', () => {
  const listen = async (status: number) => {
    const requests: string[] = []
    const server = createServer((request, response) => {
      requests.push(request.url ?? '')
      response.writeHead(status).end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    // The address of a listening TCP server is never a string or null.
    const { port } = server.address() as AddressInfo
    return { requests, url: `http://127.0.0.1:${port}/ping/secret-of-the-ping`, [Symbol.dispose]: () => server.close() }
  }

  it('is sent after each sweep', async () => {
    using server = await listen(200)
    await using rig = await open({ env: { HEALTH_ALERT_HEARTBEAT_URL: server.url } })
    await sweep(rig.dispatchers)
    await sweep(rig.dispatchers)
    expect(server.requests).toEqual(['/ping/secret-of-the-ping', '/ping/secret-of-the-ping'])
  })

  it('that fails does not fail the sweep, and is logged without its address', async () => {
    using server = await listen(500)
    for (const url of [server.url, 'http://127.0.0.1:1/ping/secret-of-the-ping']) {
      await using rig = await open({ env: { HEALTH_ALERT_HEARTBEAT_URL: url } })
      expect(await sweep(rig.dispatchers)).toMatchObject({ hosts: 2 })
      expect(rig.dispatchers.logged()).toContain('heartbeat')
      expect(rig.dispatchers.logged()).not.toContain('secret-of-the-ping')
    }
  })
})

it('measures host-independent rules with the first host only', async () => {
  await using rig = await open()
  const { watched } = rig
  watched.rules = [createTestRule({ id: 'mirror-failed', once: true })]
  const requests = new Map<string, boolean>()
  watched.onMeasure = async (hostKey, rules) => void requests.set(hostKey, rules.includes('mirror-failed'))
  await sweep(rig.dispatchers)
  expect(requests).toEqual(
    new Map([
      ['one', true],
      ['two', false],
    ]),
  )
})

it('treats invalid variables as unset and logs each once without its value', async () => {
  const env = {
    SVC_HEALTH_SWEEP_ENABLED: 'perhaps',
    CRON_SECRET: 'a secret of the scheduler',
    HEALTH_ALERT_HEARTBEAT_URL: 'no-address-at-all',
    SVC_HEALTH_SWEEP_INTERVAL_MINUTES: 'no-address-either',
  }
  await using rig = await open({ env })
  await rig.dispatchers.ticked()
  expect(await rig.dispatchers.alerts.sweep({}, rig.dispatchers.call())).toMatchObject({ enabled: true, hosts: 2 })
  const warned = rig.dispatchers
    .logged()
    .split('\n')
    .filter((line) => line.includes('"variable"'))
  expect(warned.map((line) => JSON.parse(line).variable)).toEqual([
    'SVC_HEALTH_SWEEP_ENABLED',
    'HEALTH_ALERT_HEARTBEAT_URL',
    'SVC_HEALTH_SWEEP_INTERVAL_MINUTES',
  ])
  expect(warned.join('\n')).not.toContain('no-address')
})
