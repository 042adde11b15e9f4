import { pino } from 'pino'
import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { clockOf, systemClock } from '#shared/time/clock.ts'
import { HostState } from '#proto/query.ts'
import { openClient } from '../clickhouse/client.ts'
import { openSilence } from '../clickhouse/silence.ts'
import { openHosts } from '../hosts/hosts.ts'
import { aCall, openParts, quietTelemetry } from '../testing/open-parts.ts'
import { rows, startHttpStub, startTcpStub } from '../testing/stub-host.ts'
import { openProbe } from './probe.ts'

const silence = openSilence()
const skewMs = 90_000
/** What every host knows of itself; then the load in the order of the statement. */
const basics = ['25.8.1', 77, 'machine', 'UTC', '0']
const load = {
  runningQueries: 7,
  merges: 2,
  memoryUsedBytes: 30,
  memoryTotalBytes: 40,
  loadAverage: 1.5,
  cpuUsage: 0.25,
  diskUsedBytes: 5,
  diskTotalBytes: 6,
  readonlyReplicas: 1,
  maxReplicaDelaySeconds: null,
}
const asksLoad = (sql: string): boolean => sql.includes('system.processes')
const tables = ['processes', 'metrics']

describe('the probe', () => {
  it('knows which hosts are up, and why the others are down', async () => {
    await using up = await startHttpStub((_, response) =>
      rows(response, [['25.8.1', 77, 'machine', 'UTC', String(Date.now() + skewMs), ...Array(10).fill(null)]]),
    )
    await using hanging = await startTcpStub((socket) => socket.resume())
    await using garbled = await startHttpStub((_, response) => response.end('<html>'), 'none')
    await using locked = await startHttpStub((_, response) => response.writeHead(401).end(), 'none')
    const exception = 'Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)'
    await using full = await startHttpStub((_, response) => response.writeHead(500).end(exception), 'none')
    const gone = await startTcpStub(() => undefined)
    await gone[Symbol.asyncDispose]()
    await using parts = await openParts({
      COLUMNDB_HOST: [up, hanging, garbled, locked, full, gone].map((stub) => stub.url).join(','),
      COLUMNDB_NAME: 'up,hanging,garbled,locked,full,gone',
    })
    const states = () => parts.probe.states()
    expect(states().map((state) => state.status)).toEqual(Array(6).fill('unknown'))
    await expect.poll(() => states().every((state) => state.status !== 'unknown'), { timeout: 10_000 }).toBe(true)

    expect(states().map(({ id, name, status, reason }) => [id, name, status, reason])).toEqual([
      [0, 'up', 'up', null],
      [1, 'hanging', 'down', 'timeout'],
      [2, 'garbled', 'down', 'garbage'],
      [3, 'locked', 'down', 'refused'],
      [4, 'full', 'down', 'garbage'],
      [5, 'gone', 'down', 'unreachable'],
    ])
    expect(states().map(({ failure }) => failure)).toEqual([
      null,
      'host hanging did not answer in time',
      'host garbled answered something that is not ClickHouse',
      'host locked refused the configured user or password',
      'host full: Memory limit exceeded. (241 MEMORY_LIMIT_EXCEEDED)',
      'host gone cannot be reached: nothing listens at its port',
    ])
    expect(states()[0]).toMatchObject({ version: '25.8.1', uptimeSeconds: 77 })
    expect(Math.abs(parts.probe.skewMs('up') - skewMs)).toBeLessThan(2_000)
    const [ofUp = 0, ...ofOthers] = states().map(({ clockSkewMs }) => clockSkewMs)
    // Both are rounded from clocks that are read at two instants.
    expect(Math.abs(ofUp - parts.probe.skewMs('up'))).toBeLessThanOrEqual(1)
    expect(ofOthers).toEqual([0, 0, 0, 0, 0])
    for (const state of states()) expect(HostState.parse(state)).toEqual(state)
  })

  it('asks a host again and again, on one connection, never two at once, and in time for a state of ten seconds', async () => {
    let now = Date.now()
    const asked: number[] = []
    await using stub = await startHttpStub((_, response) => {
      asked.push(now)
      rows(response, [[...basics, ...Array(10).fill(null)]])
    })
    await using parts = await openParts({ COLUMNDB_HOST: stub.url })
    await expect.poll(() => asked.length, { timeout: 5_000 }).toBe(2)
    const { hosts, client } = parts
    const telemetry = quietTelemetry()
    await using probe = openProbe({ hosts, client, clock: clockOf(() => now), telemetry, silence, random: () => 0 })
    const checked = () => probe.states()[0]?.checkedAtMs
    await expect.poll(checked, { timeout: 5_000 }).toBe(now)
    for (let round = 0; round < 3; round++) {
      const before = asked.length
      now += 6_500
      await expect.poll(checked, { timeout: 5_000 }).toBe(now)
      expect(asked.length).toBe(before + 1)
    }
    expect(stub.most).toBe(1)
    expect(systemClock.now() - (checked() ?? 0)).toBeLessThan(10_000)
  })

  it('logs once that a host went down, and once that it is back', async () => {
    let now = Date.now()
    let isUp = true
    await using stub = await startHttpStub((_, response) =>
      isUp ? rows(response, [[...basics, ...Array(10).fill(null)]]) : response.destroy(),
    )
    const lines: string[] = []
    const log = pino({ base: null, timestamp: false }, { write: (line) => void lines.push(line) })
    await using parts = await openParts({ COLUMNDB_HOST: stub.url, COLUMNDB_NAME: 'first' })
    const { hosts, client } = parts
    const telemetry = { ...quietTelemetry(), log }
    await using probe = openProbe({ hosts, client, clock: clockOf(() => now), telemetry, silence, random: () => 0 })
    const checked = () => expect.poll(() => probe.states()[0]?.checkedAtMs, { timeout: 5_000 }).toBe(now)
    await checked()
    for (const next of [false, false, true, true]) {
      isUp = next
      now += 6_500
      await checked()
    }
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        level: 40,
        host: 'first',
        reason: 'unreachable',
        failure: 'host first cannot be reached: it closes its connections',
        msg: 'host is down',
      },
      { level: 30, host: 'first', msg: 'host is up again' },
    ])
  })

  it('reads the load with the state in one statement, once it knows what the host has', async () => {
    let now = Date.now()
    const asked: { sql: string; settings: Record<string, string> }[] = []
    await using stub = await startHttpStub(
      ({ sql, url }, response) => {
        asked.push({ sql, settings: Object.fromEntries(url.searchParams) })
        rows(response, [asksLoad(sql) ? [...basics, ...Object.values(load)] : basics])
      },
      { tables },
    )
    const env = { COLUMNDB_HOST: stub.url, COLUMNDB_NAME: 'first' }
    await using hosts = await openHosts({ env, log: quietTelemetry().log })
    const telemetry = quietTelemetry()
    const clock = clockOf(() => now)
    await using client = openClient({ env, telemetry, clock })
    await using probe = openProbe({ hosts, client, clock, telemetry, silence, random: () => 0 })
    await expect.poll(() => probe.known('first').load, { timeout: 5_000 }).toEqual(load)
    expect(asked.map(({ sql }) => asksLoad(sql))).toEqual([false, true])

    now += 6_500
    await expect.poll(() => probe.states()[0]?.checkedAtMs, { timeout: 5_000 }).toBe(now)
    expect(asked).toHaveLength(3)
    expect(asked[2]?.settings).toMatchObject({
      log_comment: '{"watchhouse":"probe"}',
      max_threads: '2',
      priority: '10',
      max_execution_time: '10',
    })
  })

  it('goes on with the state alone where the load is closed to the user', async () => {
    await using stub = await startHttpStub(
      ({ sql }, response) => {
        if (!asksLoad(sql)) return rows(response, [basics])
        response.writeHead(403, { 'x-clickhouse-exception-code': '497' })
        response.end('Code: 497. DB::Exception: x: Not enough privileges. (ACCESS_DENIED) (version 25.8.1.1)')
      },
      { tables },
    )
    await using parts = await openParts({ COLUMNDB_HOST: stub.url, COLUMNDB_NAME: 'closed' })
    await expect.poll(() => parts.probe.states()[0]?.status, { timeout: 5_000 }).toBe('up')
    expect(parts.probe.known('closed').load).toBeNull()
  })

  it('takes a host for up that is only late with its load, which rests then', async () => {
    let now = Date.now()
    const asked: boolean[] = []
    await using stub = await startHttpStub(
      ({ sql }, response) => {
        asked.push(asksLoad(sql))
        // As a host does whose Keeper does not answer.
        if (!asksLoad(sql)) rows(response, [basics])
      },
      { tables },
    )
    const env = { COLUMNDB_HOST: stub.url, COLUMNDB_NAME: 'first' }
    const telemetry = quietTelemetry()
    await using hosts = await openHosts({ env, log: telemetry.log })
    const clock = clockOf(() => now)
    await using client = openClient({ env, telemetry, clock })
    await using probe = openProbe({ hosts, client, clock, telemetry, silence, random: () => 0 })
    await expect.poll(() => probe.known('first').loadRestsUntilMs, { timeout: 10_000 }).toBeGreaterThan(0)
    expect(asked).toEqual([false, true, false])
    now += 6_500
    await expect.poll(() => probe.states()[0]?.checkedAtMs, { timeout: 5_000 }).toBe(now)
    expect(asked).toEqual([false, true, false, false])
    expect(probe.states()).toMatchObject([{ status: 'up' }])
    expect(probe.known('first').load).toBeNull()
    now += 60_000
    await expect.poll(() => asked.at(4), { timeout: 5_000 }).toBe(true)
  })

  it('ends the wait for a host that it hears nothing from, and for no other', async () => {
    await using hanging = await startHttpStub(() => undefined)
    const { promise: later, resolve: answerLater } = Promise.withResolvers<() => void>()
    await using slow = await startHttpStub(({ sql }, response) => {
      if (sql === 'SELECT 1') answerLater(() => rows(response, [['1']]))
      else rows(response, [[...basics, ...Array(10).fill(null)]])
    })
    const env = { COLUMNDB_HOST: `${hanging.url},${slow.url}`, COLUMNDB_NAME: 'hanging,slow' }
    const telemetry = quietTelemetry()
    await using hosts = await openHosts({ env, log: telemetry.log })
    const brief = openSilence(20)
    await using client = openClient({ env, telemetry, clock: systemClock, silence: brief })
    const ask = (key: string) => client.run(hosts.get(key), { what: 'test', sql: 'SELECT 1' }, aCall())
    const slowly = ask('slow')
    const never = ask('hanging')
    await using _probe = openProbe({ hosts, client, clock: systemClock, telemetry, silence: brief })
    await expect(never).rejects.toMatchObject({ code: 'unavailable', details: { host: 'hanging' } })
    const answer = await later
    answer()
    expect((await slowly).rows).toEqual([['1']])
  })

  it('keeps a figure for each listed host, up or down', async () => {
    await using up = await startHttpStub((_, response) => rows(response, [[...basics, ...Array(10).fill(null)]]))
    const gone = await startTcpStub(() => undefined)
    await gone[Symbol.asyncDispose]()
    const env: Record<string, string> = { COLUMNDB_HOST: `${up.url},${gone.url}`, COLUMNDB_NAME: 'up,gone' }
    const telemetry = { ...quietTelemetry(), metrics: new Registry() }
    await using hosts = await openHosts({ env, log: telemetry.log, recheckEveryMs: 20 })
    await using client = openClient({ env, telemetry, clock: systemClock })
    await using _probe = openProbe({ hosts, client, clock: systemClock, telemetry, silence })
    const told = () => telemetry.metrics.getSingleMetricAsString('watchhouse_host_up')
    await expect.poll(told, { timeout: 5_000 }).toContain('watchhouse_host_up{host="gone"} 0')
    await expect.poll(told, { timeout: 5_000 }).toContain('watchhouse_host_up{host="up"} 1')
    env.COLUMNDB_HOST = up.url
    env.COLUMNDB_NAME = 'up'
    await expect.poll(told, { timeout: 5_000 }).not.toContain('gone')
  })
})
