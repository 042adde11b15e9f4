import type { AlertConfigUpdate } from '#proto/alerting.ts'
import type { Moment, Running, Scenario } from './scenario.ts'

const fire = 'WARNING: disk on one'
const worse = 'CRITICAL: disk on one'
const still = 'STILL WARNING: disk on one'
const over = 'RECOVERED: disk on one'

const low = { 'one/disk': 50 }
const high = { 'one/disk': 85 }
const worst = { 'one/disk': 95 }

const updateAlertConfig =
  (update: AlertConfigUpdate) =>
  ({ alerts, call }: Running) =>
    alerts.updateAlertConfig({ update }, call())

const acknowledge =
  (minutes: number | null, episode?: string) =>
  ({ alerts, call }: Running) =>
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

/** A night that ends when its clocks say seven, whatever was done to them in between. */
const night = (late: string, before: string, seven: string): Scenario => ({
  env: { HEALTH_ALERT_COOLDOWN_MINUTES: '0' },
  moments: [
    { at: late, act: nights },
    { measured: high },
    { after: 5, measured: worst, told: [worse] },
    { after: 5, measured: { 'two/disk': 85, 'one/disk': 95 } },
    { at: before },
    { at: seven, told: ['WARNING: disk on two'] },
  ],
})

const seenEpisode = { id: '' }
const remember = async ({ alerts, call }: Running) => {
  const { hosts } = await alerts.alertState({ hostKey: 'one' }, call())
  seenEpisode.id = hosts[0]?.conditions[0]?.episode ?? 'none'
}

const refused = async (act: Promise<unknown>): Promise<void> => {
  const failure = await act.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (failure === undefined) throw new Error('an acknowledgement was taken that must be refused')
}

const digest = (...lines: string[]): string => lines.join('; ')

/** What happens, and what an operator is told, by the sentence that it shows. */
export const scenarios: Record<string, Scenario> = {
  'hears of a fire once, and of its end after two quiet sweeps': {
    moments: [
      { measured: low },
      { after: 5, measured: high, told: [fire] },
      { after: 5, measured: high },
      { after: 5, measured: low },
      { after: 5, measured: low, told: [over] },
      { after: 5, measured: low },
    ],
  },
  'is reminded when the cooldown is over, without a sweep': {
    moments: [
      { measured: high, told: [fire] },
      { after: 59 },
      { after: 1, told: [still] },
      { after: 30, measured: high },
      { after: 30, told: [still] },
    ],
  },
  'is never reminded with a cooldown of 0': {
    env: { HEALTH_ALERT_COOLDOWN_MINUTES: '0' },
    moments: [{ measured: high, told: [fire] }, { after: 600 }, { after: 600, measured: high }],
  },
  'hears of an escalation at once, of no lowering, and of the next escalation': {
    moments: [
      { measured: high, told: [fire] },
      { after: 5, measured: worst, told: [worse] },
      { after: 5, measured: high },
      { after: 5, measured: worst, told: [worse] },
      { after: 5, measured: low },
      { after: 5, measured: low, told: [over] },
    ],
  },
  'hears once of what goes up and down from sweep to sweep': {
    moments: [
      { measured: high, told: [fire] },
      ...[low, high, low, high, low, high].map((measured): Moment => ({ after: 5, measured })),
      { after: 5, measured: low },
      { after: 5, measured: low, told: [over] },
    ],
  },
  'waits for the breaches of the product and of one rule': {
    env: { HEALTH_HYSTERESIS_BREACHES: '2', HEALTH_HYSTERESIS_MEMORY_BREACHES: '3' },
    moments: [
      { measured: { 'one/disk': 85, 'one/memory': 85 } },
      { after: 5, measured: { 'one/disk': 85, 'one/memory': 85 }, told: [fire] },
      { after: 5, measured: { 'one/disk': 85, 'one/memory': 85 }, told: ['WARNING: memory on one'] },
    ],
  },
  'gets warnings in one message when the digest window ends, and critical at once': {
    env: { HEALTH_ALERT_DIGEST_MINUTES: '15' },
    moments: [
      { measured: { 'one/disk': 85, 'two/disk': 85, 'three/memory': 95 }, told: ['CRITICAL: memory on three'] },
      { after: 5, measured: { 'one/disk': 85, 'three/memory': 95 } },
      { after: 5, measured: { 'one/disk': 85, 'three/memory': 95 } },
      { after: 4 },
      { after: 1, told: [digest(fire, 'WARNING: disk on two (fired and recovered)')] },
      { after: 5, measured: { 'three/memory': 95 } },
      { after: 5, measured: { 'three/memory': 95 }, told: [over] },
    ],
  },
  'is not reminded of what was acknowledged, and hears when it gets worse and when it ends': {
    moments: [
      { measured: high, told: [fire] },
      { act: acknowledge(240) },
      { after: 60 },
      { after: 60, measured: high },
      { after: 5, measured: worst, told: [worse] },
      { after: 60 },
      { after: 55, told: ['STILL CRITICAL: disk on one'] },
      { act: acknowledge(null) },
      { after: 6_000 },
      { measured: low },
      { after: 5, measured: low, told: [over] },
    ],
  },
  'cannot acknowledge an episode that is over, and the next one is told in full': {
    env: { HEALTH_HYSTERESIS_CLEARS: '1' },
    moments: [
      { measured: high, told: [fire] },
      { act: remember },
      { act: acknowledge(null) },
      { after: 5, measured: low, told: [over] },
      { after: 5, measured: high, told: [fire] },
      { act: (running) => refused(acknowledge(null, seenEpisode.id)(running)) },
      { after: 60, told: [still] },
    ],
  },
  'hears after a maintenance that began before the fire what is still true': {
    moments: [
      { act: maintenance('2026-01-05T11:00:00Z', '2026-01-05T13:00:00Z') },
      { measured: { 'one/disk': 95, 'one/memory': 95, 'two/disk': 85 }, told: ['WARNING: disk on two'] },
      { after: 30, measured: worst },
      { after: 5, measured: worst, told: ['RECOVERED: disk on two'] },
      { after: 24 },
      { after: 1, told: [worse] },
    ],
  },
  'hears after a maintenance that began after the fire that it is over': {
    moments: [
      { measured: worst, told: [worse] },
      { act: maintenance('2026-01-05T12:00:00Z', '2026-01-05T15:00:00Z', null) },
      { after: 70, measured: low },
      { after: 5, measured: low },
      { at: '2026-01-05T14:59:59Z' },
      { at: '2026-01-05T15:00:00Z', told: [over] },
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
  'hears the end of what a host had that left the middle of the list, and nothing of others': {
    moments: [
      {
        measured: { 'one/disk': 85, 'two/disk': 85, 'three/disk': 85 },
        told: [fire, 'WARNING: disk on two', 'WARNING: disk on three'],
      },
      {
        after: 5,
        hosts: ['one', 'three'],
        measured: { 'one/disk': 85, 'three/disk': 85 },
        told: ['CLOSED: disk on two'],
      },
      { after: 5, measured: { 'one/disk': 85, 'three/disk': 85 } },
      { after: 5, measured: {} },
      { after: 5, measured: {}, told: [over, 'RECOVERED: disk on three'] },
    ],
  },
  'hears of a host that does not answer, and of nothing else about it': {
    moments: [
      { measured: high, told: [fire] },
      { after: 5, measured: { 'one/host-unreachable': 1 }, told: ['CRITICAL: host-unreachable on one'] },
      { after: 60, told: ['STILL CRITICAL: host-unreachable on one'] },
      { measured: high, told: [still] },
      { after: 5, measured: high, told: ['RECOVERED: host-unreachable on one'] },
    ],
  },
  'hears nothing twice and misses nothing when the clock is set': {
    moments: [
      { measured: high, told: [fire] },
      { after: -3_000, measured: high },
      { after: 59 },
      { after: 1, told: [still] },
      { after: 500_000, told: [still] },
      { after: -500_000, measured: worst, told: [worse] },
      { after: 5, measured: low },
      { after: 5, measured: low, told: [over] },
    ],
  },
  'hears what is still true when dispatch is paused and goes on': {
    moments: [
      { act: updateAlertConfig({ kind: 'general', value: { enabled: false } }) },
      { measured: worst },
      { after: 60 },
      { act: updateAlertConfig({ kind: 'general', value: { enabled: true } }), told: [worse] },
    ],
  },
}

/** What a crash, a loss and company change of it. */
export const upheavals: Record<string, Scenario> = {
  'is told the same by dispatchers that start again within the cooldown': {
    moments: [
      { measured: high, told: [fire] },
      { after: 30, act: ({ restart }) => restart() },
      { measured: high },
      { after: 29 },
      { after: 1, told: [still] },
      { act: ({ restart }) => restart() },
      { measured: low },
      { after: 5, measured: low, told: [over] },
    ],
  },
  'is told the end of what fired before the store was emptied': {
    moments: [
      { measured: high, told: [fire] },
      { act: acknowledge(null) },
      { after: 5, act: ({ place }) => place.emptyStore() },
      { measured: high },
      { after: 120 },
      { measured: low },
      { after: 5, measured: low, told: [over] },
    ],
  },
  'is told once by three dispatchers': {
    count: 3,
    moments: [
      { measured: { 'one/disk': 85, 'two/disk': 95 }, told: [fire, 'CRITICAL: disk on two'] },
      { after: 60, told: [still, 'STILL CRITICAL: disk on two'] },
      { measured: {} },
      { after: 5, measured: {}, told: [over, 'RECOVERED: disk on two'] },
    ],
  },
}

/** Without a state database nothing outlives the store. */
export const forgotten: Scenario = {
  moments: [
    { measured: high, told: [fire] },
    { act: (running) => refused(acknowledge(null)(running)) },
    { after: 5, act: ({ place }) => place.emptyStore() },
    { act: ({ restart }) => restart() },
    { measured: high, told: [fire] },
  ],
}
