import { describe, expect, it } from 'vitest'
import type { MaintenanceWindow, QuietHours } from '../policy.ts'
import { newStory, plainRule, say, sweepOnce, tickOnce } from '../testing/story.ts'

const disk = plainRule({ id: 'disk' })
const hours = (count: number): number => count * 3_600_000

/** Begins and ends so many minutes after now. */
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
  it('begun before the fire holds it, and lets it out when it ends while it is still true', () => {
    const story = newStory([disk])
    story.policy = { ...story.policy, maintenance: [maintenance(story.nowMs, 0, 12)] }
    expect(sweepOnce(story, { disk: 95 })).toEqual([])
    expect([story.held, sweepOnce(story, { disk: 95 })]).toEqual([['maintenance'], []])
    expect(tickOnce(story, 2)).toEqual(['fire disk critical'])
    expect(story.notices[0]?.reason).toContain('held until now: maintenance')
    expect(story.happenings.map(({ kind, reason }) => `${kind} ${reason.slice(0, 11)}`)).toEqual([
      'held maintenance',
      'fire it has reac',
    ])
  })

  it('tells nothing of what began and ended within it', () => {
    const story = newStory([disk])
    story.policy = { ...story.policy, maintenance: [maintenance(story.nowMs, 0, 60)] }
    for (const value of [95, 95, 50, 50]) expect(sweepOnce(story, { disk: value })).toEqual([])
    expect(tickOnce(story, 60)).toEqual([])
    expect(story.record?.conditions).toEqual({})
  })

  it('begun after the fire holds its reminders, and its recovery until it ends', () => {
    const story = newStory([disk], { cooldownMs: 5 * 60_000 })
    expect(sweepOnce(story, { disk: 95 })).toEqual(['fire disk critical'])
    story.policy = { ...story.policy, maintenance: [maintenance(story.nowMs, 0, 60)] }
    for (const value of [95, 50, 50]) expect(sweepOnce(story, { disk: value })).toEqual([])
    expect(story.record?.conditions.disk?.phase).toBe('cleared')
    expect(tickOnce(story, 60)).toEqual(['recover disk critical'])
  })

  it('goes on with the episode when it breaches again before its recovery could be told', () => {
    const story = newStory([disk], { cooldownMs: 0 })
    sweepOnce(story, { disk: 95 })
    story.policy = { ...story.policy, maintenance: [maintenance(story.nowMs, 0, 60)] }
    for (const value of [50, 50, 95]) sweepOnce(story, { disk: value })
    expect(tickOnce(story, 60)).toEqual([])
    expect(sweepOnce(story, { disk: 50 })).toEqual([])
    expect(sweepOnce(story, { disk: 50 })).toEqual(['recover disk critical'])
    expect(story.begun).toBe(1)
  })

  it.each([
    ['another host', 'other', ['fire disk critical']],
    ['every host', null, []],
  ])('of %s', (_whose, hostKey, told) => {
    const story = newStory([disk])
    story.policy = { ...story.policy, maintenance: [maintenance(story.nowMs, 0, 60, hostKey)] }
    expect(sweepOnce(story, { disk: 95 })).toEqual(told)
  })
})

describe('quiet hours', () => {
  it('hold a warning until they end, and let critical pass', () => {
    const story = newStory([disk], { quietHours: [always] })
    expect([sweepOnce(story, { disk: 85 }), story.held]).toEqual([[], ['quiet-hours']])
    expect(sweepOnce(story, { disk: 95 })).toEqual(['fire disk critical'])
  })

  it('hold everything where they say so', () => {
    const story = newStory([disk], { quietHours: [{ ...always, severityCap: null }] })
    expect([sweepOnce(story, { disk: 95 }), story.held]).toEqual([[], ['quiet-hours']])
    story.policy = { ...story.policy, quietHours: [] }
    expect(tickOnce(story, 1)).toEqual(['fire disk critical'])
  })

  it('hold no recovery of what people know', () => {
    const story = newStory([disk])
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
  ])('of %s stops reminders for that long', (_length, long, told) => {
    const story = newStory([disk], reminding)
    sweepOnce(story, { disk: 85 })
    sweepOnce(story, { disk: 85 })
    say(story, 'disk', { acknowledged: { untilMs: long === null ? null : story.nowMs + hours(long) + 1 } })
    expect([sweepOnce(story, { disk: 85 }), sweepOnce(story, { disk: 85 })].map(String)).toEqual(told)
  })

  it('stops neither escalation nor recovery', () => {
    const story = newStory([disk], reminding)
    sweepOnce(story, { disk: 85 })
    say(story, 'disk', { acknowledged: { untilMs: null } })
    expect(sweepOnce(story, { disk: 95 })).toEqual(['escalate disk critical'])
    expect(sweepOnce(story, { disk: 95 })).toEqual([])
    expect(story.held).toEqual(['acknowledged'])
    expect([sweepOnce(story, { disk: 50 }), sweepOnce(story, { disk: 50 })]).toEqual([[], ['recover disk critical']])
  })

  it('ends with its episode', () => {
    const story = newStory([disk], { ...reminding, clears: 1 })
    sweepOnce(story, { disk: 85 })
    say(story, 'disk', { acknowledged: { untilMs: null }, dismissed: { untilMs: null } })
    sweepOnce(story, { disk: 50 })
    expect(sweepOnce(story, { disk: 85 })).toEqual(['fire disk warning'])
    expect(sweepOnce(story, { disk: 85 })).toEqual(['remind disk warning'])
  })
})

describe('a dismissal', () => {
  it('stops escalation too, but no recovery of what people know', () => {
    const story = newStory([disk])
    sweepOnce(story, { disk: 85 })
    say(story, 'disk', { dismissed: { untilMs: null } })
    expect([sweepOnce(story, { disk: 95 }), story.held]).toEqual([[], ['dismissed']])
    expect([sweepOnce(story, { disk: 50 }), sweepOnce(story, { disk: 50 })]).toEqual([[], ['recover disk critical']])
  })

  it('for a time lets it out when that is over', () => {
    const story = newStory([disk])
    sweepOnce(story, { disk: 85 })
    say(story, 'disk', { dismissed: { untilMs: story.nowMs + hours(1) } })
    expect(sweepOnce(story, { disk: 95 })).toEqual([])
    expect(tickOnce(story, 55)).toEqual(['escalate disk critical'])
  })
})

describe('a floor', () => {
  it.each([
    ['of all who could be told', { leastSeverity: 'critical' as const }],
    ['of the rule', { rules: { disk: { minSeverity: 'critical' as const } } }],
  ])('%s keeps a warning untold, which fires when it gets worse', (_whose, settled) => {
    const story = newStory([disk], settled)
    expect([sweepOnce(story, { disk: 85 }), story.held]).toEqual([[], ['severity']])
    expect(story.record?.conditions.disk?.phase).toBe('firing')
    expect(sweepOnce(story, { disk: 95 })).toEqual(['fire disk critical'])
  })

  it('of a rule goes before that of the product', () => {
    const story = newStory([disk], { leastSeverity: 'critical', rules: { disk: { minSeverity: 'warning' } } })
    expect(sweepOnce(story, { disk: 85 })).toEqual(['fire disk warning'])
  })

  it('holds no recovery of what was worse', () => {
    const story = newStory([disk], { leastSeverity: 'critical' })
    sweepOnce(story, { disk: 95 })
    sweepOnce(story, { disk: 85 })
    expect([sweepOnce(story, { disk: 50 }), sweepOnce(story, { disk: 50 })]).toEqual([[], ['recover disk critical']])
  })
})

describe('dispatch that is paused', () => {
  it('tells nothing while checks go on, and what is still true when it goes on', () => {
    const story = newStory([disk], { enabled: false })
    expect([sweepOnce(story, { disk: 95 }), story.held]).toEqual([[], ['disabled']])
    expect(story.record?.checks.disk?.status).toBe('critical')
    story.policy = { ...story.policy, enabled: true }
    expect(tickOnce(story, 1)).toEqual(['fire disk critical'])
  })
})

describe('a host that does not answer', () => {
  const unreachable = plainRule({
    id: 'host-unreachable',
    thresholds: { warning: null, critical: 1, below: false },
    breaches: 2,
    clears: 1,
  })
  const gone = { 'host-unreachable': 1, disk: null }

  it('is told of alone: its other rules are muted from the first sweep on', () => {
    const story = newStory([unreachable, disk], { cooldownMs: 5 * 60_000 })
    expect(sweepOnce(story, { 'host-unreachable': 0, disk: 85 })).toEqual(['fire disk warning'])
    expect([sweepOnce(story, gone), story.held]).toEqual([[], ['host-unreachable']])
    expect(sweepOnce(story, gone)).toEqual(['fire host-unreachable critical'])
    expect(tickOnce(story, 5)).toEqual(['remind host-unreachable critical'])
  })

  it('lets its other rules speak again when it answers', () => {
    const story = newStory([unreachable, disk], { cooldownMs: 5 * 60_000 })
    sweepOnce(story, { 'host-unreachable': 0, disk: 85 })
    for (let sweep = 0; sweep < 3; sweep++) sweepOnce(story, gone)
    expect(sweepOnce(story, { 'host-unreachable': 0, disk: 85 }).toSorted()).toEqual([
      'recover host-unreachable critical',
      'remind disk warning',
    ])
  })
})

describe('a clock that jumps', () => {
  it('back makes nothing be told twice, and puts no reminder off for longer than the cooldown', () => {
    const story = newStory([disk])
    sweepOnce(story, { disk: 85 })
    story.nowMs -= hours(48)
    expect(sweepOnce(story, { disk: 85 })).toEqual([])
    expect(tickOnce(story, 59)).toEqual([])
    expect(tickOnce(story, 1)).toEqual(['remind disk warning'])
    expect([sweepOnce(story, { disk: 50 }), sweepOnce(story, { disk: 50 })]).toEqual([[], ['recover disk warning']])
    const recovery = story.notices.at(-1)
    expect(recovery && recovery.sinceMs <= recovery.atMs).toBe(true)
  })

  it('forward reminds once', () => {
    const story = newStory([disk])
    sweepOnce(story, { disk: 85 })
    story.nowMs += hours(24 * 365)
    expect(tickOnce(story, 0)).toEqual(['remind disk warning'])
    expect(tickOnce(story, 1)).toEqual([])
    expect(sweepOnce(story, { disk: 85 })).toEqual([])
  })
})
