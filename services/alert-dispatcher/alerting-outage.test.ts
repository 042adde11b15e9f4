import { clockOf } from '#shared/time/clock.ts'
import { expect, it, vi } from 'vitest'
import { startDispatchers } from '../testing/alerts/dispatchers.ts'
import { openGround } from '../testing/alerts/ground.ts'
import { eventually } from '../testing/ask.ts'
import { describeWith, startPostgres } from '../testing/servers.ts'

vi.setConfig({ testTimeout: 60_000 })

describeWith(['postgres'], 'while the state database does not answer', () => {
  it('what is known holds and sweeps go on; whatever would be written is refused', async () => {
    await using postgres = await startPostgres({ private: true })
    await using ground = await openGround('memory')
    const clock = { ms: Date.UTC(2026, 0, 5, 12) }
    const watched = { names: ['one'], values: { 'one/disk': 85 } }
    await using dispatchers = await startDispatchers({
      place: await ground.next(),
      clock: clockOf(() => clock.ms),
      env: { HEALTH_ALERT_ENABLED: 'true', SVC_STATE_DB_URL: postgres.url, SVC_HEALTH_CONFIG_DIRECTORY: '/nowhere' },
      watched,
    })
    const { alerts, call } = dispatchers
    const acknowledge = () =>
      alerts.silence({ kind: 'ack', hostKey: 'one', ruleId: 'disk', minutes: 60, note: '' }, call())
    const settle = (cooldownMinutes: number) =>
      alerts.settle({ settling: { kind: 'general', value: { cooldownMinutes } } }, call())
    const condition = async () => (await alerts.alertState({}, call())).hosts[0]?.conditions[0]

    await settle(5)
    await alerts.sweep({}, call())
    const { untilMs } = await acknowledge()
    await postgres.kill()

    clock.ms += 60_000
    await expect(acknowledge()).rejects.toMatchObject({ code: 'unavailable' })
    await expect(settle(6)).rejects.toMatchObject({ code: 'unavailable' })
    await expect(alerts.alertHistory({ limit: 1 }, call())).rejects.toMatchObject({ code: 'unavailable' })
    expect(await alerts.sweep({}, call())).toMatchObject({ hosts: 1, firing: 1 })
    expect(await condition()).toMatchObject({ ruleId: 'disk', acknowledged: { untilMs } })
    const { general } = await alerts.alertPolicy({}, call())
    expect(general.cooldownMinutes).toEqual({ value: 5, source: 'database' })

    await postgres.restart()
    const settled = await eventually(
      () => settle(7).catch(() => undefined),
      (answer) => answer !== undefined,
    )
    expect(settled?.general.cooldownMinutes.value).toBe(7)
    await alerts.sweep({}, call())
    expect(await condition()).toMatchObject({ acknowledged: { untilMs } })
  })
})
