import { describe, expect, it } from 'vitest'
import type { Policy } from '../policy.ts'
import { newStory, plainRule, sweepOnce } from '../testing/story.ts'

const disk = plainRule({ id: 'disk' })
const levels: Readonly<Record<string, number | null>> = { o: 50, w: 85, c: 95, '?': null }

/** Sweeps five minutes apart, each `o`k, `w`arning, `c`ritical or `?` unknown, and what each of them tells. */
const toldBy = (sweeps: string, settled: Partial<Policy> = {}): string => {
  const story = newStory([disk], settled)
  const told = sweeps.split(' ').map((level) => {
    const told = sweepOnce(story, { disk: levels[level] ?? null })
    return told.map((line) => line.replace(' disk', '')).join('+') || '-'
  })
  return told.join(', ')
}

const reminding = { cooldownMs: 10 * 60_000 }

describe('the table of the specification', () => {
  it.each([
    ['ok goes to firing with the first breach', 'o w', {}, '-, fire warning'],
    ['ok goes to firing when the breaches are consecutive', 'w w w', { breaches: 3 }, '-, -, fire warning'],
    ['ok stays when they are not', 'w w o w w o', { breaches: 3 }, '-, -, -, -, -, -'],
    ['firing goes on untold within the cooldown', 'w w', {}, 'fire warning, -'],
    ['firing reminds after the cooldown', 'w w w w w', reminding, 'fire warning, -, remind warning, -, remind warning'],
    [
      'firing never reminds with a cooldown of 0',
      'w w w w w w w w w w w w w w',
      { cooldownMs: 0 },
      `fire warning${', -'.repeat(13)}`,
    ],
    ['firing tells an escalation at once', 'w c', {}, 'fire warning, escalate critical'],
    [
      'firing tells an escalation at once whatever the breaches',
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
  ])('%s', (_row, sweeps, settled, told) => {
    expect(toldBy(sweeps, settled)).toBe(told)
  })
})

describe('where the specification is silent', () => {
  it.each([
    ['fires with what it is by the time it fires', 'w c', { breaches: 2 }, '-, fire critical'],
    ['sinks silently', 'c w', {}, 'fire critical, -'],
    ['recovers from the worst that it was', 'c w o o', {}, 'fire critical, -, -, recover critical'],
    [
      'rises again only after the breaches',
      'c c w c w c c',
      { breaches: 2 },
      '-, fire critical, -, -, -, -, escalate critical',
    ],
    [
      'does not count a rise that did not last',
      'c c w c w c o c',
      { breaches: 2 },
      '-, fire critical, -, -, -, -, -, -',
    ],
    ['reminds of what it has sunk to', 'c w w', reminding, 'fire critical, -, remind warning'],
    ['tells the next time of being not ok as another', 'w o o w', {}, 'fire warning, -, recover warning, fire warning'],
    ['counts no unknown sweep as breach', 'w ? w', { breaches: 2 }, '-, -, fire warning'],
    ['counts no unknown sweep as ok', 'w o ? o', {}, 'fire warning, -, -, recover warning'],
    ['leaves firing what cannot be told', 'w ? ? ? ?', {}, 'fire warning, -, -, -, -'],
    ['tells no unknown sweep', '? ? ?', {}, '-, -, -'],
    [
      'reminds of nothing that was ok on the last sweep',
      'w o w o',
      { cooldownMs: 5 * 60_000 },
      'fire warning, -, remind warning, -',
    ],
  ])('%s', (_rule, sweeps, settled, told) => {
    expect(toldBy(sweeps, settled)).toBe(told)
  })

  it('begins a new episode each time', () => {
    const story = newStory([disk], { clears: 1 })
    for (const disk of [85, 50, 85, 50]) sweepOnce(story, { disk })
    expect(story.notices.map(({ id, kind }) => [id, kind])).toEqual([
      ['episode-1:0', 'fire'],
      ['episode-1:1', 'recover'],
      ['episode-2:0', 'fire'],
      ['episode-2:1', 'recover'],
    ])
  })

  it('names the worst while it lasts, and nobody once it is over', () => {
    const story = newStory([disk], { cooldownMs: 10 * 60_000 })
    for (const disk of [85, 85, 85]) sweepOnce(story, { disk }, { offenders: ['default'] })
    for (const disk of [50, 50]) sweepOnce(story, { disk })
    expect(story.notices.map(({ kind, offenders }) => [kind, offenders])).toEqual([
      ['fire', ['default']],
      ['remind', ['default']],
      ['recover', []],
    ])
  })

  it('shows why a rule is unknown, and keeps what it was', () => {
    const story = newStory([disk])
    sweepOnce(story, { disk: 85 })
    sweepOnce(story, { disk: null })
    expect(story.record?.checks.disk).toMatchObject({ status: 'unknown', reason: 'the table is missing' })
    expect(story.record?.conditions.disk).toMatchObject({ phase: 'firing', severity: 'warning', value: 85 })
  })
})

describe('hysteresis of one rule', () => {
  it.each([
    [
      'its own goes before that of the product',
      { breaches: 2, clears: 3 },
      {},
      'w w o o o',
      '-, fire warning, -, -, recover warning',
    ],
    ['what operators settled goes before its own', { breaches: 5 }, { breaches: 1 }, 'w', 'fire warning'],
  ])('%s', (_name, own, settled, sweeps, wanted) => {
    const story = newStory([{ ...disk, ...own }], { rules: { disk: settled } })
    const told = sweeps.split(' ').map((level) => sweepOnce(story, { disk: levels[level] ?? null }).join('+') || '-')
    expect(told.join(', ').replaceAll(' disk', '')).toBe(wanted)
  })
})

describe('a rule that is no longer watched', () => {
  it('recovers for those who were told of it', () => {
    const story = newStory([disk])
    sweepOnce(story, { disk: 95 })
    story.policy = { ...story.policy, rules: { disk: { enabled: false } } }
    expect(sweepOnce(story, { disk: 95 })).toEqual(['recover disk critical'])
    expect(story.notices.at(-1)).toMatchObject({ reason: 'it is no longer watched', isUnseen: true })
    expect(story.record).toMatchObject({ conditions: {}, checks: {} })
  })

  it('is dropped when nobody was told', () => {
    const story = newStory([disk], { breaches: 2 })
    sweepOnce(story, { disk: 95 })
    story.policy = { ...story.policy, rules: { disk: { enabled: false } } }
    expect(sweepOnce(story, { disk: 95 })).toEqual([])
    expect(story.record?.conditions).toEqual({})
  })
})

describe('the history', () => {
  it('has a line for each thing that became of an episode', () => {
    const story = newStory([disk], reminding)
    for (const disk of [85, 95, 85, 85, 50, 50]) sweepOnce(story, { disk })
    expect(story.happenings.map(({ kind, severity }) => `${kind} ${severity}`)).toEqual([
      'fire warning',
      'escalate critical',
      'lower warning',
      'remind warning',
      'recover warning',
    ])
    expect(story.episodes.map(({ endedAtMs }) => endedAtMs === null)).toEqual([true, true, true, true, false])
    expect(new Set(story.happenings.map(({ id }) => id)).size).toBe(5)
  })
})
