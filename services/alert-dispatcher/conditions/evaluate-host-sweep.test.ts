import { describe, expect, it } from 'vitest'
import type { Policy } from '../policy.ts'
import { createSimulatedHost, createTestRule, sweepOnce } from '../testing/simulated-host.ts'

const disk = createTestRule({ id: 'disk' })
const levels: Readonly<Record<string, number | null>> = { o: 50, w: 85, c: 95, '?': null }

/** Runs a sweep for each letter: `o`k, `w`arning, `c`ritical or `?` for no data. Returns the notifications of each. */
const notificationsOf = (sweeps: string, overrides: Partial<Policy> = {}): string => {
  const story = createSimulatedHost([disk], overrides)
  const notified = sweeps.split(' ').map((level) => {
    const notified = sweepOnce(story, { disk: levels[level] ?? null })
    return notified.map((line) => line.replace(' disk', '')).join('+') || '-'
  })
  return notified.join(', ')
}

const reminding = { cooldownMs: 10 * 60_000 }

describe('the table of the specification', () => {
  it.each([
    ['ok goes to firing with the first breach', 'o w', {}, '-, fire warning'],
    ['ok goes to firing when the breaches are consecutive', 'w w w', { breaches: 3 }, '-, -, fire warning'],
    ['ok stays when they are not', 'w w o w w o', { breaches: 3 }, '-, -, -, -, -, -'],
    ['firing sends nothing within the cooldown', 'w w', {}, 'fire warning, -'],
    ['firing reminds after the cooldown', 'w w w w w', reminding, 'fire warning, -, remind warning, -, remind warning'],
    [
      'firing never reminds with a cooldown of 0',
      'w w w w w w w w w w w w w w',
      { cooldownMs: 0 },
      `fire warning${', -'.repeat(13)}`,
    ],
    ['firing sends an escalation at once', 'w c', {}, 'fire warning, escalate critical'],
    [
      'firing sends an escalation at once regardless of the breaches',
      'w w c',
      { breaches: 2 },
      '-, fire warning, escalate critical',
    ],
    ['firing recovers after the ok sweeps', 'w o o', {}, 'fire warning, -, recover warning'],
    ['firing recovers at once with clears of 1', 'w o', { clears: 1 }, 'fire warning, recover warning'],
    [
      'firing goes on when the ok sweeps are not consecutive',
      'w o w o w o o',
      {},
      'fire warning, -, -, -, -, -, recover warning',
    ],
  ])('%s', (_row, sweeps, overrides, notified) => {
    expect(notificationsOf(sweeps, overrides)).toBe(notified)
  })
})

describe('transitions beyond the specification', () => {
  it.each([
    ['fires with its current severity', 'w c', { breaches: 2 }, '-, fire critical'],
    ['decreases without a notification', 'c w', {}, 'fire critical, -'],
    ['recovers from its highest severity', 'c w o o', {}, 'fire critical, -, -, recover critical'],
    [
      'escalates again only after the breaches',
      'c c w c w c c',
      { breaches: 2 },
      '-, fire critical, -, -, -, -, escalate critical',
    ],
    [
      'does not count an interrupted increase',
      'c c w c w c o c',
      { breaches: 2 },
      '-, fire critical, -, -, -, -, -, -',
    ],
    ['reminds with the decreased severity', 'c w w', reminding, 'fire critical, -, remind warning'],
    ['starts a new episode after a recovery', 'w o o w', {}, 'fire warning, -, recover warning, fire warning'],
    ['does not count a sweep without data as a breach', 'w ? w', { breaches: 2 }, '-, -, fire warning'],
    ['does not count a sweep without data as ok', 'w o ? o', {}, 'fire warning, -, -, recover warning'],
    ['keeps firing without data', 'w ? ? ? ?', {}, 'fire warning, -, -, -, -'],
    ['sends nothing without data', '? ? ?', {}, '-, -, -'],
    [
      'sends no reminder after an ok sweep',
      'w o w o',
      { cooldownMs: 5 * 60_000 },
      'fire warning, -, remind warning, -',
    ],
  ])('%s', (_rule, sweeps, overrides, notified) => {
    expect(notificationsOf(sweeps, overrides)).toBe(notified)
  })

  it('starts a new episode each time', () => {
    const story = createSimulatedHost([disk], { clears: 1 })
    for (const disk of [85, 50, 85, 50]) sweepOnce(story, { disk })
    expect(story.notifications.map(({ id, kind }) => [id, kind])).toEqual([
      ['episode-1:0', 'fire'],
      ['episode-1:1', 'recover'],
      ['episode-2:0', 'fire'],
      ['episode-2:1', 'recover'],
    ])
  })

  it('names offenders while firing, but not on recovery', () => {
    const story = createSimulatedHost([disk], { cooldownMs: 10 * 60_000 })
    for (const disk of [85, 85, 85]) sweepOnce(story, { disk }, { offenders: ['default'] })
    for (const disk of [50, 50]) sweepOnce(story, { disk })
    expect(story.notifications.map(({ kind, offenders }) => [kind, offenders])).toEqual([
      ['fire', ['default']],
      ['remind', ['default']],
      ['recover', []],
    ])
  })

  it('shows why a rule has no data and keeps its condition', () => {
    const story = createSimulatedHost([disk])
    sweepOnce(story, { disk: 85 })
    sweepOnce(story, { disk: null })
    expect(story.record?.checks.disk).toMatchObject({ status: 'unknown', reason: 'the table is missing' })
    expect(story.record?.conditions.disk).toMatchObject({ phase: 'firing', severity: 'warning', value: 85 })
  })
})

describe('hysteresis of one rule', () => {
  it.each([
    [
      'that of the rule overrides the default',
      { breaches: 2, clears: 3 },
      {},
      'w w o o o',
      '-, fire warning, -, -, recover warning',
    ],
    ['the configuration overrides that of the rule', { breaches: 5 }, { breaches: 1 }, 'w', 'fire warning'],
  ])('%s', (_name, own, overrides, sweeps, wanted) => {
    const story = createSimulatedHost([{ ...disk, ...own }], { rules: { disk: overrides } })
    const notified = sweeps
      .split(' ')
      .map((level) => sweepOnce(story, { disk: levels[level] ?? null }).join('+') || '-')
    expect(notified.join(', ').replaceAll(' disk', '')).toBe(wanted)
  })
})

describe('a rule that is no longer monitored', () => {
  it('sends a recovery if it was notified', () => {
    const story = createSimulatedHost([disk])
    sweepOnce(story, { disk: 95 })
    story.policy = { ...story.policy, rules: { disk: { enabled: false } } }
    expect(sweepOnce(story, { disk: 95 })).toEqual(['recover disk critical'])
    expect(story.notifications.at(-1)).toMatchObject({ reason: 'the rule is no longer evaluated', isUnseen: true })
    expect(story.record).toMatchObject({ conditions: {}, checks: {} })
  })

  it('is dropped if it was never notified', () => {
    const story = createSimulatedHost([disk], { breaches: 2 })
    sweepOnce(story, { disk: 95 })
    story.policy = { ...story.policy, rules: { disk: { enabled: false } } }
    expect(sweepOnce(story, { disk: 95 })).toEqual([])
    expect(story.record?.conditions).toEqual({})
  })
})

describe('the history', () => {
  it('has an entry for each transition of an episode', () => {
    const story = createSimulatedHost([disk], reminding)
    for (const disk of [85, 95, 85, 85, 50, 50]) sweepOnce(story, { disk })
    expect(story.transitions.map(({ kind, severity }) => `${kind} ${severity}`)).toEqual([
      'fire warning',
      'escalate critical',
      'lower warning',
      'remind warning',
      'recover warning',
    ])
    expect(story.episodes.map(({ endedAtMs }) => endedAtMs === null)).toEqual([true, true, true, true, false])
    expect(new Set(story.transitions.map(({ id }) => id)).size).toBe(5)
  })
})
