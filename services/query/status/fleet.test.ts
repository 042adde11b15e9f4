import { clockOf } from '#shared/time/clock.ts'
import { expect, it } from 'vitest'
import { query } from '#proto/query.ts'
import { openClient } from '../clickhouse/client.ts'
import { openSilence } from '../clickhouse/silence.ts'
import { openDefinitions } from '../definitions/definitions.ts'
import { openHosts } from '../hosts/hosts.ts'
import { openProbe } from './probe.ts'
import { aCall, quietTelemetry } from '../testing/open-parts.ts'
import { rows, startHttpStub } from '../testing/stub-host.ts'
import { fleet } from './fleet.ts'

const hostCount = 500
const betweenProbesMs = 6_500
const maxAgeMs = 10_000
/** On a busy machine some of so many probes are too late at first. */
const maxRounds = 10
const roundLimit = { timeout: 30_000 }

it(`tells of ${hostCount} hosts what the last probes found, and asks none of them`, async () => {
  let now = Date.now()
  const asked: string[] = []
  await using stub = await startHttpStub(
    ({ sql, url }, response) => {
      asked.push(url.pathname)
      const load = sql.includes('system.processes') ? [1, 2, 30, 40, 1.5, 0.25, 5, 6, 0, 7] : []
      rows(response, [['25.8.1', 77, 'machine', 'UTC', '0', ...load]])
    },
    { tables: ['processes'] },
  )
  const urls = Array.from({ length: hostCount }, (_, id) => `${stub.url}/${id}`)
  const env = { COLUMNDB_HOST: urls.join(','), COLUMNDB_NAME: urls.map((__, id) => `host-${id}`).join(',') }
  const telemetry = quietTelemetry()
  const clock = clockOf(() => now)
  await using hosts = await openHosts({ env, log: telemetry.log })
  await using client = openClient({ env, telemetry, clock })
  await using probe = openProbe({ hosts, client, clock, telemetry, silence: openSilence(), random: () => 0 })
  const definitions = await openDefinitions(telemetry.log)
  const ask = async () =>
    query.methods.fleet.output.parse(await fleet({ env, clock, hosts, client, definitions, probe })({}, aCall()))
  const oldest = async () => Math.max(...(await ask()).map(({ ageMs }) => ageMs ?? Infinity))
  const isComplete = async () => (await ask()).every(({ load }) => load !== null)

  for (let round = 0; round < maxRounds && !(await isComplete()); round++) {
    now += betweenProbesMs
    await expect.poll(oldest, roundLimit).toBe(0)
  }
  asked.splice(0)
  const told = await ask()
  expect(asked).toEqual([])
  expect(told).toHaveLength(hostCount)
  expect(told[7]).toMatchObject({ id: 7, name: 'host-7', status: 'up', version: '25.8.1', ageMs: 0 })
  expect(told.filter(({ load }) => load?.maxReplicaDelaySeconds !== 7)).toEqual([])

  now += betweenProbesMs
  expect(await oldest()).toBeLessThan(maxAgeMs)
  await expect.poll(oldest, roundLimit).toBe(0)
  expect(new Set(asked).size).toBe(asked.length)
})
