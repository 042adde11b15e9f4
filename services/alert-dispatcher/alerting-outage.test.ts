import { createClock } from '#shared/time/clock.ts'
import { expect, it, vi } from 'vitest'
import { startDispatchers } from '../testing/alerts/dispatchers.ts'
import { openDispatcherBackends } from '../testing/alerts/dispatcher-backends.ts'
import { retryUntil } from '../testing/fetch-json.ts'
import { describeWith, startPostgres } from '../testing/describe-with.ts'

vi.setConfig({ testTimeout: 60_000 })

describeWith(['postgres'], 'while the state database is unavailable', () => {
  it('uses the last known configuration, keeps sweeping and rejects changes', { tags: ['long'] }, async () => {
    await using postgres = await startPostgres({ private: true })
    await using ground = await openDispatcherBackends('memory')
    const clock = { ms: Date.UTC(2026, 0, 5, 12) }
    const watched = { names: ['one'], values: { 'one/disk': 85 } }
    await using dispatchers = await startDispatchers({
      place: await ground.next(),
      clock: createClock(() => clock.ms),
      env: { HEALTH_ALERT_ENABLED: 'true', SVC_STATE_DB_URL: postgres.url, SVC_HEALTH_CONFIG_DIRECTORY: '/nowhere' },
      watched,
    })
    const { alerts, call } = dispatchers
    const acknowledge = () =>
      alerts.silence({ kind: 'ack', hostKey: 'one', ruleId: 'disk', minutes: 60, note: '' }, call())
    const setCooldown = (cooldownMinutes: number) =>
      alerts.updateAlertConfig({ update: { kind: 'general', value: { cooldownMinutes } } }, call())
    const condition = async () => (await alerts.alertState({}, call())).hosts[0]?.conditions[0]

    await setCooldown(5)
    await alerts.sweep({}, call())
    const { untilMs } = await acknowledge()
    await postgres.kill()

    clock.ms += 60_000
    await expect(acknowledge()).rejects.toMatchObject({ code: 'unavailable' })
    await expect(setCooldown(6)).rejects.toMatchObject({ code: 'unavailable' })
    await expect(alerts.alertHistory({ limit: 1 }, call())).rejects.toMatchObject({ code: 'unavailable' })
    expect(await alerts.sweep({}, call())).toMatchObject({ hosts: 1, firing: 1 })
    expect(await condition()).toMatchObject({ ruleId: 'disk', acknowledged: { untilMs } })
    const { general } = await alerts.alertPolicy({}, call())
    expect(general.cooldownMinutes).toEqual({ value: 5, source: 'database' })

    await postgres.restart()
    const config = await retryUntil(
      () => setCooldown(7).catch(() => undefined),
      (answer) => answer !== undefined,
    )
    expect(config?.general.cooldownMinutes.value).toBe(7)
    await alerts.sweep({}, call())
    expect(await condition()).toMatchObject({ acknowledged: { untilMs } })
  })
})
