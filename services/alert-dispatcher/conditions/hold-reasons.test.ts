import { describe, expect, it } from 'vitest'
import type { MaintenanceWindow, QuietHours } from '../policy.ts'
import { createSimulatedHost, createTestRule, setSilence, sweepOnce, tickOnce } from '../testing/simulated-host.ts'

const disk = createTestRule({ id: 'disk' })
const hours = (count: number): number => count * 3_600_000

/** Returns a window that starts and ends the given number of minutes from now. */
const maintenance = (nowMs: number, from: number, to: number, hostKey: string | null = 'db'): MaintenanceWindow => ({
  id: 'window',
  hostKey,
  reason: 'new disks',
  startsAtMs: nowMs + from * 60_000,
  endsAtMs: nowMs + to * 60_000,
})
const always: QuietHours = {
  id: 'always',
  days: [0, 1, 2, 3, 4, 5, 6],
  start: '00:00',
  end: '23:59',
  timezone: 'UTC',
  severityCap: 'critical',
}

describe('maintenance', () => {
  it('that starts before the alert holds it until it ends', () => {
    const story = createSimulatedHost([disk])
    story.policy = { ...story.policy, maintenance: [maintenance(story.nowMs, 0, 12)] }
    expect(sweepOnce(story, { disk: 95 })).toEqual([])
    expect([story.held, sweepOnce(story, { disk: 95 })]).toEqual([['maintenance'], []])
    expect(tickOnce(story, 2)).toEqual(['fire disk critical'])
    expect(story.notifications[0]?.reason).toContain('held until now: maintenance')
    expect(story.transitions.map(({ kind, reason }) => `${kind} ${reason.slice(0, 11)}`)).toEqual([
      'held maintenance',
      'fire threshold r',
    ])
  })

  it('hides an alert that fires and recovers within it', () => {
    const story = createSimulatedHost([disk])
    story.policy = { ...story.policy, maintenance: [maintenance(story.nowMs, 0, 60)] }
    for (const value of [95, 95, 50, 50]) expect(sweepOnce(story, { disk: value })).toEqual([])
    expect(tickOnce(story, 60)).toEqual([])
    expect(story.record?.conditions).toEqual({})
  })

  it('that starts after the alert holds reminders and the recovery until it ends', () => {
    const story = createSimulatedHost([disk], { cooldownMs: 5 * 60_000 })
    expect(sweepOnce(story, { disk: 95 })).toEqual(['fire disk critical'])
    story.policy = { ...story.policy, maintenance: [maintenance(story.nowMs, 0, 60)] }
    for (const value of [95, 50, 50]) expect(sweepOnce(story, { disk: value })).toEqual([])
    expect(story.record?.conditions.disk?.phase).toBe('cleared')
    expect(tickOnce(story, 60)).toEqual(['recover disk critical'])
  })

  it('continues the episode if it breaches again before the recovery is sent', () => {
    const story = createSimulatedHost([disk], { cooldownMs: 0 })
    sweepOnce(story, { disk: 95 })
    story.policy = { ...story.policy, maintenance: [maintenance(story.nowMs, 0, 60)] }
    for (const value of [50, 50, 95]) sweepOnce(story, { disk: value })
    expect(tickOnce(story, 60)).toEqual([])
    expect(sweepOnce(story, { disk: 50 })).toEqual([])
    expect(sweepOnce(story, { disk: 50 })).toEqual(['recover disk critical'])
    expect(story.episodesStarted).toBe(1)
  })

  it.each([
    ['another host', 'other', ['fire disk critical']],
    ['every host', null, []],
  ])('for %s', (_whose, hostKey, notified) => {
    const story = createSimulatedHost([disk])
    story.policy = { ...story.policy, maintenance: [maintenance(story.nowMs, 0, 60, hostKey)] }
    expect(sweepOnce(story, { disk: 95 })).toEqual(notified)
  })
})

describe('quiet hours', () => {
  it('hold a warning until they end and pass critical alerts', () => {
    const story = createSimulatedHost([disk], { quietHours: [always] })
    expect([sweepOnce(story, { disk: 85 }), story.held]).toEqual([[], ['quiet-hours']])
    expect(sweepOnce(story, { disk: 95 })).toEqual(['fire disk critical'])
  })

  it('hold all severities if configured', () => {
    const story = createSimulatedHost([disk], { quietHours: [{ ...always, severityCap: null }] })
    expect([sweepOnce(story, { disk: 95 }), story.held]).toEqual([[], ['quiet-hours']])
    story.policy = { ...story.policy, quietHours: [] }
    expect(tickOnce(story, 1)).toEqual(['fire disk critical'])
  })

  it('hold no recovery of a notified alert', () => {
    const story = createSimulatedHost([disk])
    sweepOnce(story, { disk: 85 })
    story.policy = { ...story.policy, quietHours: [{ ...always, severityCap: null }] }
    expect([sweepOnce(story, { disk: 50 }), sweepOnce(story, { disk: 50 })]).toEqual([[], ['recover disk warning']])
  })
})

describe('an acknowledgement', () => {
  const reminding = { cooldownMs: 5 * 60_000 }

  it.each([
    ['5 minutes', 5 / 60, ['', 'remind disk warning']],
    ['an hour', 1, ['', '']],
    ['until recovery', null, ['', '']],
  ])('for %s stops reminders for that time', (_length, long, notified) => {
    const story = createSimulatedHost([disk], reminding)
    sweepOnce(story, { disk: 85 })
    sweepOnce(story, { disk: 85 })
    setSilence(story, 'disk', { acknowledged: { untilMs: long === null ? null : story.nowMs + hours(long) + 1 } })
    expect([sweepOnce(story, { disk: 85 }), sweepOnce(story, { disk: 85 })].map(String)).toEqual(notified)
  })

  it('stops neither escalation nor recovery', () => {
    const story = createSimulatedHost([disk], reminding)
    sweepOnce(story, { disk: 85 })
    setSilence(story, 'disk', { acknowledged: { untilMs: null } })
    expect(sweepOnce(story, { disk: 95 })).toEqual(['escalate disk critical'])
    expect(sweepOnce(story, { disk: 95 })).toEqual([])
    expect(story.held).toEqual(['acknowledged'])
    expect([sweepOnce(story, { disk: 50 }), sweepOnce(story, { disk: 50 })]).toEqual([[], ['recover disk critical']])
  })

  it('ends with its episode', () => {
    const story = createSimulatedHost([disk], { ...reminding, clears: 1 })
    sweepOnce(story, { disk: 85 })
    setSilence(story, 'disk', { acknowledged: { untilMs: null }, dismissed: { untilMs: null } })
    sweepOnce(story, { disk: 50 })
    expect(sweepOnce(story, { disk: 85 })).toEqual(['fire disk warning'])
    expect(sweepOnce(story, { disk: 85 })).toEqual(['remind disk warning'])
  })
})

describe('a dismissal', () => {
  it('stops escalations too, but no recovery of a notified alert', () => {
    const story = createSimulatedHost([disk])
    sweepOnce(story, { disk: 85 })
    setSilence(story, 'disk', { dismissed: { untilMs: null } })
    expect([sweepOnce(story, { disk: 95 }), story.held]).toEqual([[], ['dismissed']])
    expect([sweepOnce(story, { disk: 50 }), sweepOnce(story, { disk: 50 })]).toEqual([[], ['recover disk critical']])
  })

  it('for a limited time holds the notification until it expires', () => {
    const story = createSimulatedHost([disk])
    sweepOnce(story, { disk: 85 })
    setSilence(story, 'disk', { dismissed: { untilMs: story.nowMs + hours(1) } })
    expect(sweepOnce(story, { disk: 95 })).toEqual([])
    expect(tickOnce(story, 55)).toEqual(['escalate disk critical'])
  })
})

describe('a minimum severity', () => {
  it.each([
    ['of all targets', { leastSeverity: 'critical' as const }],
    ['of the rule', { rules: { disk: { minSeverity: 'critical' as const } } }],
  ])('%s holds a warning, which fires on escalation', (_whose, overrides) => {
    const story = createSimulatedHost([disk], overrides)
    expect([sweepOnce(story, { disk: 85 }), story.held]).toEqual([[], ['severity']])
    expect(story.record?.conditions.disk?.phase).toBe('firing')
    expect(sweepOnce(story, { disk: 95 })).toEqual(['fire disk critical'])
  })

  it('of a rule overrides the global one', () => {
    const story = createSimulatedHost([disk], {
      leastSeverity: 'critical',
      rules: { disk: { minSeverity: 'warning' } },
    })
    expect(sweepOnce(story, { disk: 85 })).toEqual(['fire disk warning'])
  })

  it('holds no recovery from a higher severity', () => {
    const story = createSimulatedHost([disk], { leastSeverity: 'critical' })
    sweepOnce(story, { disk: 95 })
    sweepOnce(story, { disk: 85 })
    expect([sweepOnce(story, { disk: 50 }), sweepOnce(story, { disk: 50 })]).toEqual([[], ['recover disk critical']])
  })
})

describe('paused notifications', () => {
  it('are sent on resumption if they still apply, while evaluation continues', () => {
    const story = createSimulatedHost([disk], { enabled: false })
    expect([sweepOnce(story, { disk: 95 }), story.held]).toEqual([[], ['disabled']])
    expect(story.record?.checks.disk?.status).toBe('critical')
    story.policy = { ...story.policy, enabled: true }
    expect(tickOnce(story, 1)).toEqual(['fire disk critical'])
  })
})

describe('an unreachable host', () => {
  const unreachable = createTestRule({
    id: 'host-unreachable',
    thresholds: { warning: null, critical: 1, below: false },
    breaches: 2,
    clears: 1,
  })
  const gone = { 'host-unreachable': 1, disk: null }

  it('mutes its other rules from the first sweep on', () => {
    const story = createSimulatedHost([unreachable, disk], { cooldownMs: 5 * 60_000 })
    expect(sweepOnce(story, { 'host-unreachable': 0, disk: 85 })).toEqual(['fire disk warning'])
    expect([sweepOnce(story, gone), story.held]).toEqual([[], ['host-unreachable']])
    expect(sweepOnce(story, gone)).toEqual(['fire host-unreachable critical'])
    expect(tickOnce(story, 5)).toEqual(['remind host-unreachable critical'])
  })

  it('unmutes its other rules when it is reachable again', () => {
    const story = createSimulatedHost([unreachable, disk], { cooldownMs: 5 * 60_000 })
    sweepOnce(story, { 'host-unreachable': 0, disk: 85 })
    for (let sweep = 0; sweep < 3; sweep++) sweepOnce(story, gone)
    expect(sweepOnce(story, { 'host-unreachable': 0, disk: 85 }).toSorted()).toEqual([
      'recover host-unreachable critical',
      'remind disk warning',
    ])
  })
})

describe('a clock that jumps', () => {
  it('back causes no duplicates and delays no reminder beyond the cooldown', () => {
    const story = createSimulatedHost([disk])
    sweepOnce(story, { disk: 85 })
    story.nowMs -= hours(48)
    expect(sweepOnce(story, { disk: 85 })).toEqual([])
    expect(tickOnce(story, 59)).toEqual([])
    expect(tickOnce(story, 1)).toEqual(['remind disk warning'])
    expect([sweepOnce(story, { disk: 50 }), sweepOnce(story, { disk: 50 })]).toEqual([[], ['recover disk warning']])
    const recovery = story.notifications.at(-1)
    expect(recovery && recovery.sinceMs <= recovery.atMs).toBe(true)
  })

  it('forward reminds once', () => {
    const story = createSimulatedHost([disk])
    sweepOnce(story, { disk: 85 })
    story.nowMs += hours(24 * 365)
    expect(tickOnce(story, 0)).toEqual(['remind disk warning'])
    expect(tickOnce(story, 1)).toEqual([])
    expect(sweepOnce(story, { disk: 85 })).toEqual([])
  })
})
