import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { systemClock } from '#shared/clock.ts'
import { HostState } from '#proto/query.ts'
import { openParts, quietTelemetry } from './testing/open-parts.ts'
import { rows, startHttpStub, startTcpStub } from './testing/stub-host.ts'
import { openProbe } from './probe.ts'

const skewMs = 90_000

describe('the probe', () => {
  it('knows which hosts are up, and why the others are down', async () => {
    await using up = await startHttpStub((_, response) =>
      rows(response, [['25.8.1', 77, 'machine', 'UTC', String(Date.now() + skewMs)]]),
    )
    await using hanging = await startTcpStub((socket) => socket.resume())
    await using garbled = await startHttpStub((_, response) => response.end('<html>'), 'none')
    await using locked = await startHttpStub((_, response) => response.writeHead(401).end(), 'none')
    const gone = await startTcpStub(() => undefined)
    await gone[Symbol.asyncDispose]()
    await using parts = await openParts({
      COLUMNDB_HOST: [up, hanging, garbled, locked, gone].map((stub) => stub.url).join(','),
      COLUMNDB_NAME: 'up,hanging,garbled,locked,gone',
    })
    const states = () => parts.probe.states()
    expect(states().map((state) => state.status)).toEqual(Array(5).fill('unknown'))
    await expect.poll(() => states().every((state) => state.status !== 'unknown'), { timeout: 10_000 }).toBe(true)

    expect(states().map(({ id, name, status, reason }) => [id, name, status, reason])).toEqual([
      [0, 'up', 'up', null],
      [1, 'hanging', 'down', 'timeout'],
      [2, 'garbled', 'down', 'garbage'],
      [3, 'locked', 'down', 'refused'],
      [4, 'gone', 'down', 'unreachable'],
    ])
    expect(states()[0]).toMatchObject({ version: '25.8.1', uptimeSeconds: 77 })
    expect(Math.abs(parts.probe.skewMs('up') - skewMs)).toBeLessThan(2_000)
    for (const state of states()) expect(HostState.parse(state)).toEqual(state)
  })

  it('asks a host again and again, on one connection, never two at once, and in time for a state of ten seconds', async () => {
    let now = Date.now()
    const asked: number[] = []
    await using stub = await startHttpStub((_, response) => {
      asked.push(now)
      rows(response, [['25.8.1', 77, 'machine', 'UTC', '0']])
    })
    await using parts = await openParts({ COLUMNDB_HOST: stub.url })
    await expect.poll(() => asked.length, { timeout: 5_000 }).toBe(1)
    const { hosts, client } = parts
    await using probe = openProbe({
      hosts,
      client,
      clock: { now: () => now },
      log: quietTelemetry().log,
      random: () => 0,
    })
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
      isUp ? rows(response, [['25.8.1', 77, 'machine', 'UTC', '0']]) : response.destroy(),
    )
    const lines: string[] = []
    const log = pino({ base: null, timestamp: false }, { write: (line) => void lines.push(line) })
    await using parts = await openParts({ COLUMNDB_HOST: stub.url, COLUMNDB_NAME: 'first' })
    const { hosts, client } = parts
    await using probe = openProbe({ hosts, client, clock: { now: () => now }, log, random: () => 0 })
    const checked = () => expect.poll(() => probe.states()[0]?.checkedAtMs, { timeout: 5_000 }).toBe(now)
    await checked()
    for (const next of [false, false, true, true]) {
      isUp = next
      now += 6_500
      await checked()
    }
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { level: 40, host: 'first', reason: 'unreachable', msg: 'host is down' },
      { level: 30, host: 'first', msg: 'host is up again' },
    ])
  })
})
