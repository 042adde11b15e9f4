import type { AlertConfigUpdate } from '#proto/alerting.ts'
import type { ScenarioStep, RunningScenario, Scenario } from './play-scenario.ts'

const fire = 'WARNING: disk on one'
const worse = 'CRITICAL: disk on one'
const still = 'STILL WARNING: disk on one'
const over = 'RECOVERED: disk on one'

const low = { 'one/disk': 50 }
const high = { 'one/disk': 85 }
const worst = { 'one/disk': 95 }

const updateAlertConfig =
  (update: AlertConfigUpdate) =>
  ({ alerts, call }: RunningScenario) =>
    alerts.updateAlertConfig({ update }, call())

const acknowledge =
  (minutes: number | null, episode?: string) =>
  ({ alerts, call }: RunningScenario) =>
    alerts.silence(
      { hostKey: 'one', ruleId: 'disk', kind: 'ack', minutes, note: 'seen', ...(episode && { episode }) },
      call(),
    )

const maintenance = (from: string, to: string, hostKey: string | null = 'one') =>
  updateAlertConfig({
    kind: 'maintenance-window',
    value: { id: 'disks', hostKey, reason: 'new disks', startsAtMs: Date.parse(from), endsAtMs: Date.parse(to) },
  })

const nights = updateAlertConfig({
  kind: 'quiet-hours',
  value: {
    id: 'nights',
    days: [0, 1, 2, 3, 4, 5, 6],
    start: '22:00',
    end: '07:00',
    timezone: 'Europe/Berlin',
    severityCap: 'critical',
  },
})

/** Returns a scenario in which quiet hours end at 07:00 local time, across a change to or from daylight saving time. */
const night = (late: string, before: string, seven: string): Scenario => ({
  env: { HEALTH_ALERT_COOLDOWN_MINUTES: '0' },
  moments: [
    { at: late, act: nights },
    { measured: high },
    { after: 5, measured: worst, notifications: [worse] },
    { after: 5, measured: { 'two/disk': 85, 'one/disk': 95 } },
    { at: before },
    { at: seven, notifications: ['WARNING: disk on two'] },
  ],
})

const seenEpisode = { id: '' }
const remember = async ({ alerts, call }: RunningScenario) => {
  const { hosts } = await alerts.alertState({ hostKey: 'one' }, call())
  seenEpisode.id = hosts[0]?.conditions[0]?.episode ?? 'none'
}

const refused = async (act: Promise<unknown>): Promise<void> => {
  const failure = await act.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (failure === undefined) throw new Error('the acknowledgement was not rejected')
}

const digest = (...lines: string[]): string => lines.join('; ')

/** Scenarios of events with the expected notifications, by test title. */
export const scenarios: Record<string, Scenario> = {
  'is notified once of a firing rule, and of its recovery after two clear sweeps': {
    moments: [
      { measured: low },
      { after: 5, measured: high, notifications: [fire] },
      { after: 5, measured: high },
      { after: 5, measured: low },
      { after: 5, measured: low, notifications: [over] },
      { after: 5, measured: low },
    ],
  },
  'is reminded after the cooldown, without a sweep': {
    moments: [
      { measured: high, notifications: [fire] },
      { after: 59 },
      { after: 1, notifications: [still] },
      { after: 30, measured: high },
      { after: 30, notifications: [still] },
    ],
  },
  'is never reminded with a cooldown of 0': {
    env: { HEALTH_ALERT_COOLDOWN_MINUTES: '0' },
    moments: [{ measured: high, notifications: [fire] }, { after: 600 }, { after: 600, measured: high }],
  },
  'is notified of every escalation immediately, but not of a lower severity': {
    moments: [
      { measured: high, notifications: [fire] },
      { after: 5, measured: worst, notifications: [worse] },
      { after: 5, measured: high },
      { after: 5, measured: worst, notifications: [worse] },
      { after: 5, measured: low },
      { after: 5, measured: low, notifications: [over] },
    ],
  },
  'is notified once of a flapping condition': {
    moments: [
      { measured: high, notifications: [fire] },
      ...[low, high, low, high, low, high].map((measured): ScenarioStep => ({ after: 5, measured })),
      { after: 5, measured: low },
      { after: 5, measured: low, notifications: [over] },
    ],
  },
  'is notified after the required breaches of the product or of a rule': {
    env: { HEALTH_HYSTERESIS_BREACHES: '2', HEALTH_HYSTERESIS_MEMORY_BREACHES: '3' },
    moments: [
      { measured: { 'one/disk': 85, 'one/memory': 85 } },
      { after: 5, measured: { 'one/disk': 85, 'one/memory': 85 }, notifications: [fire] },
      { after: 5, measured: { 'one/disk': 85, 'one/memory': 85 }, notifications: ['WARNING: memory on one'] },
    ],
  },
  'gets warnings in one digest after its window, and critical alerts immediately': {
    env: { HEALTH_ALERT_DIGEST_MINUTES: '15' },
    moments: [
      {
        measured: { 'one/disk': 85, 'two/disk': 85, 'three/memory': 95 },
        notifications: ['CRITICAL: memory on three'],
      },
      { after: 5, measured: { 'one/disk': 85, 'three/memory': 95 } },
      { after: 5, measured: { 'one/disk': 85, 'three/memory': 95 } },
      { after: 4 },
      { after: 1, notifications: [digest(fire, 'WARNING: disk on two (fired and recovered)')] },
      { after: 5, measured: { 'three/memory': 95 } },
      { after: 5, measured: { 'three/memory': 95 }, notifications: [over] },
    ],
  },
  'is not reminded of an acknowledged alert, but notified of its escalation and recovery': {
    moments: [
      { measured: high, notifications: [fire] },
      { act: acknowledge(240) },
      { after: 60 },
      { after: 60, measured: high },
      { after: 5, measured: worst, notifications: [worse] },
      { after: 60 },
      { after: 55, notifications: ['STILL CRITICAL: disk on one'] },
      { act: acknowledge(null) },
      { after: 6_000 },
      { measured: low },
      { after: 5, measured: low, notifications: [over] },
    ],
  },
  'cannot acknowledge an ended episode, and is notified of the next one in full': {
    env: { HEALTH_HYSTERESIS_CLEARS: '1' },
    moments: [
      { measured: high, notifications: [fire] },
      { act: remember },
      { act: acknowledge(null) },
      { after: 5, measured: low, notifications: [over] },
      { after: 5, measured: high, notifications: [fire] },
      { act: (running) => refused(acknowledge(null, seenEpisode.id)(running)) },
      { after: 60, notifications: [still] },
    ],
  },
  'is notified of alerts that still fire after a maintenance that started before them': {
    moments: [
      { act: maintenance('2026-01-05T11:00:00Z', '2026-01-05T13:00:00Z') },
      { measured: { 'one/disk': 95, 'one/memory': 95, 'two/disk': 85 }, notifications: ['WARNING: disk on two'] },
      { after: 30, measured: worst },
      { after: 5, measured: worst, notifications: ['RECOVERED: disk on two'] },
      { after: 24 },
      { after: 1, notifications: [worse] },
    ],
  },
  'is notified of a recovery after a maintenance that started after the alert': {
    moments: [
      { measured: worst, notifications: [worse] },
      { act: maintenance('2026-01-05T12:00:00Z', '2026-01-05T15:00:00Z', null) },
      { after: 70, measured: low },
      { after: 5, measured: low },
      { at: '2026-01-05T14:59:59Z' },
      { at: '2026-01-05T15:00:00Z', notifications: [over] },
    ],
  },
  'sleeps through the night in which clocks go forward': night(
    '2026-03-28T21:30:00Z',
    '2026-03-29T04:59:00Z',
    '2026-03-29T05:00:00Z',
  ),
  'sleeps through the night in which clocks go back': night(
    '2026-10-24T20:30:00Z',
    '2026-10-25T05:59:00Z',
    '2026-10-25T06:00:00Z',
  ),
  'is notified that the alerts of a removed host are closed, and of no others': {
    moments: [
      {
        measured: { 'one/disk': 85, 'two/disk': 85, 'three/disk': 85 },
        notifications: [fire, 'WARNING: disk on two', 'WARNING: disk on three'],
      },
      {
        after: 5,
        hosts: ['one', 'three'],
        measured: { 'one/disk': 85, 'three/disk': 85 },
        notifications: ['CLOSED: disk on two'],
      },
      { after: 5, measured: { 'one/disk': 85, 'three/disk': 85 } },
      { after: 5, measured: {} },
      { after: 5, measured: {}, notifications: [over, 'RECOVERED: disk on three'] },
    ],
  },
  'is notified of an unreachable host, and of nothing else about it': {
    moments: [
      { measured: high, notifications: [fire] },
      { after: 5, measured: { 'one/host-unreachable': 1 }, notifications: ['CRITICAL: host-unreachable on one'] },
      { after: 60, notifications: ['STILL CRITICAL: host-unreachable on one'] },
      { measured: high, notifications: [still] },
      { after: 5, measured: high, notifications: ['RECOVERED: host-unreachable on one'] },
    ],
  },
  'gets no duplicates and misses nothing when the clock changes': {
    moments: [
      { measured: high, notifications: [fire] },
      { after: -3_000, measured: high },
      { after: 59 },
      { after: 1, notifications: [still] },
      { after: 500_000, notifications: [still] },
      { after: -500_000, measured: worst, notifications: [worse] },
      { after: 5, measured: low },
      { after: 5, measured: low, notifications: [over] },
    ],
  },
  'is notified of alerts that still fire when alerting is enabled again': {
    moments: [
      { act: updateAlertConfig({ kind: 'general', value: { enabled: false } }) },
      { measured: worst },
      { after: 60 },
      { act: updateAlertConfig({ kind: 'general', value: { enabled: true } }) },
      { after: 1, notifications: [digest(worse)] },
    ],
  },
}

/** Scenarios with restarts, data loss or several dispatchers, by test title. */
export const disruptionScenarios: Record<string, Scenario> = {
  'gets the same notifications when dispatchers restart within the cooldown': {
    moments: [
      { measured: high, notifications: [fire] },
      { after: 30, act: ({ restart }) => restart() },
      { measured: high },
      { after: 29 },
      { after: 1, notifications: [still] },
      { act: ({ restart }) => restart() },
      { measured: low },
      { after: 5, measured: low, notifications: [over] },
    ],
  },
  'is notified of the recovery of an alert from before the store was emptied': {
    moments: [
      { measured: high, notifications: [fire] },
      { act: acknowledge(null) },
      { after: 5, act: ({ place }) => place.emptyStore() },
      { measured: high },
      { after: 120 },
      { measured: low },
      { after: 5, measured: low, notifications: [over] },
    ],
  },
  'is notified once by three dispatchers': {
    count: 3,
    moments: [
      { measured: { 'one/disk': 85, 'two/disk': 95 }, notifications: [fire, 'CRITICAL: disk on two'] },
      { after: 60, notifications: [still, 'STILL CRITICAL: disk on two'] },
      { measured: {} },
      { after: 5, measured: {}, notifications: [over, 'RECOVERED: disk on two'] },
    ],
  },
}

/** A scenario without a state database, in which losing the store loses the alerts. */
export const storeLossScenario: Scenario = {
  moments: [
    { measured: high, notifications: [fire] },
    { act: (running) => refused(acknowledge(null)(running)) },
    { after: 5, act: ({ place }) => place.emptyStore() },
    { act: ({ restart }) => restart() },
    { measured: high, notifications: [fire] },
  ],
}
