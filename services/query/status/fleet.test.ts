import { createClock } from '#shared/time/clock.ts'
import { expect, it } from 'vitest'
import { query } from '#proto/query.ts'
import { openClient } from '../clickhouse/client.ts'
import { openLivenessTracker } from '../clickhouse/liveness.ts'
import { openDefinitions } from '../definitions/definitions.ts'
import { openStore } from '#shared/store/open.ts'
import { openHistoryStore } from '../history/store.ts'
import { openHosts } from '../hosts/hosts.ts'
import { openProbe } from './probe.ts'
import { createCall, createSilentTelemetry } from '../testing/test-service.ts'
import { sendResultRows, startHttpStub } from '../testing/stub-host.ts'
import { createFleetHandler } from '../handlers.ts'

const hostCount = 500
const betweenProbesMs = 6_500
const maxAgeMs = 10_000
/**
 * Maximum number of probe rounds. On a busy machine, some probes time out, which pauses the load query of their host
 * for a minute, about ten rounds.
 */
const maxRounds = 40
const roundLimit = { timeout: 30_000 }

it(`returns the last probe results of ${hostCount} hosts without queries to them`, async () => {
  let now = Date.now()
  const requests: string[] = []
  await using stub = await startHttpStub(
    ({ sql, url }, response) => {
      requests.push(url.pathname)
      const load = sql.includes('system.processes') ? [1, 2, 30, 40, 1.5, 0.25, 5, 6, 0, 7] : []
      sendResultRows(response, [['25.8.1', 77, 'machine', 'UTC', '0', ...load]])
    },
    { tables: ['processes'] },
  )
  const urls = Array.from({ length: hostCount }, (_, id) => `${stub.url}/${id}`)
  const env = { COLUMNDB_HOST: urls.join(','), COLUMNDB_NAME: urls.map((__, id) => `host-${id}`).join(',') }
  const telemetry = createSilentTelemetry()
  const clock = createClock(() => now)
  await using hosts = await openHosts({ env, log: telemetry.log })
  await using client = openClient({ env, telemetry, clock })
  await using probe = openProbe({ hosts, client, clock, telemetry, liveness: openLivenessTracker(), random: () => 0 })
  const definitions = await openDefinitions(telemetry.log)
  await using store = await openStore({ env, busIsShared: false })
  await using history = openHistoryStore({ env, store, log: telemetry.log })
  const fetchFleet = async () =>
    query.methods.fleet.output.parse(
      await createFleetHandler({ env, clock, hosts, client, definitions, probe, history })({}, createCall()),
    )
  const oldest = async () => Math.max(...(await fetchFleet()).map(({ ageMs }) => ageMs ?? Infinity))
  const isComplete = async () => (await fetchFleet()).every(({ load }) => load !== null)

  for (let round = 0; round < maxRounds && !(await isComplete()); round++) {
    now += betweenProbesMs
    await expect.poll(oldest, roundLimit).toBe(0)
  }
  requests.splice(0)
  const response = await fetchFleet()
  expect(requests).toEqual([])
  expect(response).toHaveLength(hostCount)
  expect(response[7]).toMatchObject({ id: 7, name: 'host-7', status: 'up', version: '25.8.1', ageMs: 0 })
  expect(response.filter(({ load }) => load?.maxReplicaDelaySeconds !== 7)).toEqual([])

  now += betweenProbesMs
  expect(await oldest()).toBeLessThan(maxAgeMs)
  await expect.poll(oldest, roundLimit).toBe(0)
  expect(new Set(requests).size).toBe(requests.length)
})
