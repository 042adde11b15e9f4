import { systemClock } from '#shared/time/clock.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HostRecord, getHostRecordKey } from '../alert-dispatcher/conditions/condition.ts'
import { startDispatchers } from '../testing/alerts/dispatchers.ts'
import { type DispatcherBackends, openDispatcherBackends } from '../testing/alerts/dispatcher-backends.ts'
import { playScenario } from '../testing/alerts/play-scenario.ts'
import { storeLossScenario, scenarios, disruptionScenarios } from '../testing/alerts/scenarios.ts'
import type { FakeMonitoredHosts } from '../testing/alerts/fake-monitored-hosts.ts'
import { retryUntil } from '../testing/fetch-json.ts'
import type { Topology } from '../testing/product.ts'
import { describeWith } from '../testing/describe-with.ts'

const operator = (topology: Topology) => () => {
  let ground: DispatcherBackends
  beforeAll(async () => {
    ground = await openDispatcherBackends(topology)
  })
  afterAll(() => ground[Symbol.asyncDispose]())

  it.each(Object.entries({ ...scenarios, ...disruptionScenarios }))('%s', async (_sentence, scenario) => {
    const logged = await playScenario(await ground.next(), scenario)
    expect(logged).not.toContain('"level":"error"')
  })

  it('notifies again about firing alerts when the store is lost', async () => {
    const place = await ground.next()
    await expect(playScenario({ ...place, env: {} }, storeLossScenario)).resolves.not.toContain('"level":"error"')
  })
}

describe('alert scenarios in memory', operator('memory'))
describeWith(['nats', 'redis', 'postgres'], 'alert scenarios on real servers', operator('nats'), ['long'])

/** Timeout for the next sweep, in milliseconds. A lease that a sweep could not release expires after 15 seconds. */
const leaseEndsWithinMs = 30_000

describeWith(['nats', 'redis', 'postgres'], 'a sweep that loses Redis', () => {
  it('fails with a reason, and the next one reports what is missing', { tags: ['long'] }, async () => {
    await using ground = await openDispatcherBackends('nats')
    const place = await ground.next()
    const reached = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    const watched: FakeMonitoredHosts = {
      names: ['one', 'two'],
      values: { 'one/disk': 85, 'two/disk': 85 },
      onMeasure: async (hostKey) => {
        if (hostKey !== 'two') return
        reached.resolve()
        await released.promise
      },
    }
    const env = { HEALTH_ALERT_ENABLED: 'true' }
    await using dispatchers = await startDispatchers({ place, clock: systemClock, env, watched })
    using _holding = { [Symbol.dispose]: () => released.resolve() }
    const { alerts, call } = dispatchers
    const sweep = () => alerts.sweep({}, call())

    const cutOff = expect(sweep()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('state store'),
    })
    await reached.promise
    await using store = await place.openStore()
    await retryUntil(
      () => store.get(getHostRecordKey('one'), HostRecord),
      (record) => record?.conditions.disk !== undefined,
    )
    await place.redis?.kill()
    released.resolve()
    await cutOff

    await place.redis?.restart()
    const swept = await retryUntil(
      () => sweep().catch(() => undefined),
      (answer) => answer !== undefined,
      leaseEndsWithinMs,
    )
    expect(swept).toMatchObject({ hosts: 2, firing: 2, dispatched: 1 })
  })
})
