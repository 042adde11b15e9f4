import { pino } from 'pino'
import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { createClock, systemClock } from '#shared/time/clock.ts'
import { HostState } from '#proto/query.ts'
import { openClient } from '../clickhouse/client.ts'
import { openLivenessTracker } from '../clickhouse/liveness.ts'
import { openHosts } from '../hosts/hosts.ts'
import { createCall, openTestService, createSilentTelemetry } from '../testing/test-service.ts'
import { sendResultRows, startHttpStub, startTcpStub } from '../testing/stub-host.ts'
import { openProbe } from './probe.ts'

const liveness = openLivenessTracker()
const skewMs = 90_000
/** The basics of every host, followed by the load metrics in the order of the statement. */
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
const readsLoad = (sql: string): boolean => sql.includes('system.processes')
const tables = ['processes', 'metrics']

describe('the probe', () => {
  it('reports which hosts are up and why others are down', async () => {
    await using up = await startHttpStub((_, response) =>
      sendResultRows(response, [
        ['25.8.1', 77, 'machine', 'UTC', String(Date.now() + skewMs), ...Array(10).fill(null)],
      ]),
    )
    await using hanging = await startTcpStub((socket) => socket.resume())
    await using garbled = await startHttpStub((_, response) => response.end('<html>'), 'none')
    await using locked = await startHttpStub((_, response) => response.writeHead(401).end(), 'none')
    const exception = 'Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)'
    await using full = await startHttpStub((_, response) => response.writeHead(500).end(exception), 'none')
    const gone = await startTcpStub(() => undefined)
    await gone[Symbol.asyncDispose]()
    await using parts = await openTestService({
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
      'host garbled is not a ClickHouse server',
      'host locked rejected the configured user or password',
      'host full: Memory limit exceeded. (241 MEMORY_LIMIT_EXCEEDED)',
      'host gone cannot be reached: nothing listens on its port',
    ])
    expect(states()[0]).toMatchObject({ version: '25.8.1', uptimeSeconds: 77 })
    expect(Math.abs(parts.probe.skewMs('up') - skewMs)).toBeLessThan(2_000)
    const [ofUp = 0, ...ofOthers] = states().map(({ clockSkewMs }) => clockSkewMs)
    // The values may differ by 1, because both are rounded from clocks that are read at different times.
    expect(Math.abs(ofUp - parts.probe.skewMs('up'))).toBeLessThanOrEqual(1)
    expect(ofOthers).toEqual([0, 0, 0, 0, 0])
    for (const state of states()) expect(HostState.parse(state)).toEqual(state)
  })

  it('queries a host periodically on one connection, so that its state is never older than ten seconds', async () => {
    let now = Date.now()
    const requests: number[] = []
    await using stub = await startHttpStub((_, response) => {
      requests.push(now)
      sendResultRows(response, [[...basics, ...Array(10).fill(null)]])
    })
    await using parts = await openTestService({ COLUMNDB_HOST: stub.url })
    await expect.poll(() => requests.length, { timeout: 5_000 }).toBe(2)
    const { hosts, client } = parts
    const telemetry = createSilentTelemetry()
    await using probe = openProbe({
      hosts,
      client,
      clock: createClock(() => now),
      telemetry,
      liveness,
      random: () => 0,
    })
    const checked = () => probe.states()[0]?.checkedAtMs
    await expect.poll(checked, { timeout: 5_000 }).toBe(now)
    for (let round = 0; round < 3; round++) {
      const before = requests.length
      now += 6_500
      await expect.poll(checked, { timeout: 5_000 }).toBe(now)
      expect(requests.length).toBe(before + 1)
    }
    expect(stub.most).toBe(1)
    expect(systemClock.now() - (checked() ?? 0)).toBeLessThan(10_000)
  })

  it('logs once when a host becomes unreachable and once when it recovers', async () => {
    let now = Date.now()
    let isUp = true
    await using stub = await startHttpStub((_, response) =>
      isUp ? sendResultRows(response, [[...basics, ...Array(10).fill(null)]]) : response.destroy(),
    )
    const lines: string[] = []
    const log = pino({ base: null, timestamp: false }, { write: (line) => void lines.push(line) })
    await using parts = await openTestService({ COLUMNDB_HOST: stub.url, COLUMNDB_NAME: 'first' })
    const { hosts, client } = parts
    const telemetry = { ...createSilentTelemetry(), log }
    await using probe = openProbe({
      hosts,
      client,
      clock: createClock(() => now),
      telemetry,
      liveness,
      random: () => 0,
    })
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
        msg: 'host unreachable',
      },
      { level: 30, host: 'first', msg: 'host recovered' },
    ])
  })

  it('reads load and state in one statement once the capabilities are loaded', async () => {
    let now = Date.now()
    const requests: { sql: string; settings: Record<string, string> }[] = []
    await using stub = await startHttpStub(
      ({ sql, url }, response) => {
        requests.push({ sql, settings: Object.fromEntries(url.searchParams) })
        sendResultRows(response, [readsLoad(sql) ? [...basics, ...Object.values(load)] : basics])
      },
      { tables },
    )
    const env = { COLUMNDB_HOST: stub.url, COLUMNDB_NAME: 'first' }
    await using hosts = await openHosts({ env, log: createSilentTelemetry().log })
    const telemetry = createSilentTelemetry()
    const clock = createClock(() => now)
    await using client = openClient({ env, telemetry, clock })
    await using probe = openProbe({ hosts, client, clock, telemetry, liveness, random: () => 0 })
    await expect.poll(() => probe.known('first').load, { timeout: 5_000 }).toEqual(load)
    expect(requests.map(({ sql }) => readsLoad(sql))).toEqual([false, true])

    now += 6_500
    await expect.poll(() => probe.states()[0]?.checkedAtMs, { timeout: 5_000 }).toBe(now)
    expect(requests).toHaveLength(3)
    expect(requests[2]?.settings).toMatchObject({
      log_comment: '{"watchhouse":"probe"}',
      max_threads: '2',
      priority: '10',
      max_execution_time: '10',
    })
  })

  it('reads only the state when the user may not read the load', async () => {
    await using stub = await startHttpStub(
      ({ sql }, response) => {
        if (!readsLoad(sql)) return sendResultRows(response, [basics])
        response.writeHead(403, { 'x-clickhouse-exception-code': '497' })
        response.end('Code: 497. DB::Exception: x: Not enough privileges. (ACCESS_DENIED) (version 25.8.1.1)')
      },
      { tables },
    )
    await using parts = await openTestService({ COLUMNDB_HOST: stub.url, COLUMNDB_NAME: 'closed' })
    await expect.poll(() => parts.probe.states()[0]?.status, { timeout: 5_000 }).toBe('up')
    expect(parts.probe.known('closed').load).toBeNull()
  })

  it('reports a host as up when only the load query times out, and pauses that query', async () => {
    let now = Date.now()
    const loadReads: boolean[] = []
    await using stub = await startHttpStub(
      ({ sql }, response) => {
        loadReads.push(readsLoad(sql))
        // The host does not respond to load queries, like a host whose Keeper does not respond.
        if (!readsLoad(sql)) sendResultRows(response, [basics])
      },
      { tables },
    )
    const env = { COLUMNDB_HOST: stub.url, COLUMNDB_NAME: 'first' }
    const telemetry = createSilentTelemetry()
    await using hosts = await openHosts({ env, log: telemetry.log })
    const clock = createClock(() => now)
    await using client = openClient({ env, telemetry, clock })
    await using probe = openProbe({ hosts, client, clock, telemetry, liveness, random: () => 0 })
    await expect.poll(() => probe.known('first').loadPausedUntilMs, { timeout: 10_000 }).toBeGreaterThan(0)
    expect(loadReads).toEqual([false, true, false])
    now += 6_500
    await expect.poll(() => probe.states()[0]?.checkedAtMs, { timeout: 5_000 }).toBe(now)
    expect(loadReads).toEqual([false, true, false, false])
    expect(probe.states()).toMatchObject([{ status: 'up' }])
    expect(probe.known('first').load).toBeNull()
    now += 60_000
    await expect.poll(() => loadReads.at(4), { timeout: 5_000 }).toBe(true)
  })

  it('aborts statements only on unresponsive hosts', async () => {
    await using hanging = await startHttpStub(() => undefined)
    const { promise: pendingResponse, resolve: onStatement } = Promise.withResolvers<() => void>()
    await using slow = await startHttpStub(({ sql }, response) => {
      if (sql === 'SELECT 1') onStatement(() => sendResultRows(response, [['1']]))
      else sendResultRows(response, [[...basics, ...Array(10).fill(null)]])
    })
    const env = { COLUMNDB_HOST: `${hanging.url},${slow.url}`, COLUMNDB_NAME: 'hanging,slow' }
    const telemetry = createSilentTelemetry()
    await using hosts = await openHosts({ env, log: telemetry.log })
    const brief = openLivenessTracker(20)
    await using client = openClient({ env, telemetry, clock: systemClock, liveness: brief })
    const run = (key: string) => client.run(hosts.get(key), { what: 'test', sql: 'SELECT 1' }, createCall())
    const onSlow = run('slow')
    const onHanging = run('hanging')
    await using _probe = openProbe({ hosts, client, clock: systemClock, telemetry, liveness: brief })
    await expect(onHanging).rejects.toMatchObject({ code: 'unavailable', details: { host: 'hanging' } })
    const respond = await pendingResponse
    respond()
    expect((await onSlow).rows).toEqual([['1']])
  })

  it('exports a metric for each listed host, up or down', async () => {
    await using up = await startHttpStub((_, response) =>
      sendResultRows(response, [[...basics, ...Array(10).fill(null)]]),
    )
    const gone = await startTcpStub(() => undefined)
    await gone[Symbol.asyncDispose]()
    const env: Record<string, string> = { COLUMNDB_HOST: `${up.url},${gone.url}`, COLUMNDB_NAME: 'up,gone' }
    const telemetry = { ...createSilentTelemetry(), metrics: new Registry() }
    await using hosts = await openHosts({ env, log: telemetry.log, recheckEveryMs: 20 })
    await using client = openClient({ env, telemetry, clock: systemClock })
    await using _probe = openProbe({ hosts, client, clock: systemClock, telemetry, liveness })
    const readMetric = () => telemetry.metrics.getSingleMetricAsString('watchhouse_host_up')
    await expect.poll(readMetric, { timeout: 5_000 }).toContain('watchhouse_host_up{host="gone"} 0')
    await expect.poll(readMetric, { timeout: 5_000 }).toContain('watchhouse_host_up{host="up"} 1')
    env.COLUMNDB_HOST = up.url
    env.COLUMNDB_NAME = 'up'
    await expect.poll(readMetric, { timeout: 5_000 }).not.toContain('gone')
  })
})
