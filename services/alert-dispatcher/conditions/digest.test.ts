import { describe, expect, it } from 'vitest'
import { type DigestRecord, flush, gather, mostGathered } from './digest.ts'
import type { Notice } from '../notice.ts'

const windowMs = 15 * 60_000

const notice = (kind: Notice['kind'], episode: string, sequence = 0, more: Partial<Notice> = {}): Notice => ({
  id: `${episode}:${sequence}`,
  kind,
  episode,
  sequence,
  hostKey: 'db',
  source: null,
  ruleId: 'disk',
  title: `Disk of ${episode}`,
  severity: 'warning',
  value: 85,
  threshold: 80,
  unit: 'percent',
  offenders: [],
  runbook: '',
  sinceMs: 0,
  atMs: 0,
  reason: 'it has breached often enough',
  gathered: [],
  ...more,
})

/** Hands notices in one after the other; those that pass read as `recover a`. */
const gatherAll = (notices: readonly Notice[], atMs = 0) => {
  let record: DigestRecord | undefined
  const passed: string[] = []
  for (const each of notices) {
    const gathering = gather(record, { ...each, atMs })
    record = gathering.record
    if (gathering.passes) passed.push(`${each.kind} ${each.episode}`)
  }
  return { record, passed }
}

const flushed = (
  record: DigestRecord | undefined,
  nowMs: number,
  mustWait: (notice: Notice) => boolean = () => false,
) => flush(record, { windowMs, nowMs, episode: 'digest', mustWait })

describe('a digest', () => {
  it('gathers warnings and tells them as one when its window ends', () => {
    const { record, passed } = gatherAll([notice('fire', 'a'), notice('fire', 'b')], 1_000)
    expect(passed).toEqual([])
    expect(flushed(record, windowMs)).toBeUndefined()
    const told = flushed(record, windowMs + 1_000)
    expect(told?.record).toBeUndefined()
    expect(told?.notice).toMatchObject({ kind: 'digest', title: '2 conditions', value: 2, sinceMs: 1_000 })
    expect(told?.notice.gathered).toEqual([
      {
        episode: 'a',
        ruleId: 'disk',
        hostKey: 'db',
        source: null,
        title: 'Disk of a',
        severity: 'warning',
        recovered: false,
      },
      {
        episode: 'b',
        ruleId: 'disk',
        hostKey: 'db',
        source: null,
        title: 'Disk of b',
        severity: 'warning',
        recovered: false,
      },
    ])
  })

  it('tells what fired and recovered within it as that, and not the recovery by itself', () => {
    const { record, passed } = gatherAll([notice('fire', 'a'), notice('recover', 'a', 1)])
    expect(passed).toEqual([])
    expect(flushed(record, windowMs)?.notice.gathered).toMatchObject([{ episode: 'a', recovered: true }])
  })

  it('does so too after a reminder, where the window is longer than the cooldown', () => {
    const { record, passed } = gatherAll([notice('fire', 'a'), notice('remind', 'a', 1), notice('recover', 'a', 2)])
    expect(passed).toEqual([])
    expect(flushed(record, windowMs)?.notice.gathered).toMatchObject([{ episode: 'a', recovered: true }])
  })

  it('lets the recovery of what was told before pass, without the reminder that waits', () => {
    const { record, passed } = gatherAll([notice('remind', 'a', 3), notice('fire', 'b'), notice('recover', 'a', 4)])
    expect(passed).toEqual(['recover a'])
    expect(flushed(record, windowMs)?.notice.gathered.map(({ episode }) => episode)).toEqual(['b'])
  })

  it('lets critical pass at once, and does not tell again what it was before', () => {
    const worse = notice('escalate', 'a', 1, { severity: 'critical' })
    const { record, passed } = gatherAll([notice('fire', 'a'), worse])
    expect([record, passed]).toEqual([undefined, ['escalate a']])
  })

  it('takes the same notice once', () => {
    const all = [notice('fire', 'a'), notice('recover', 'a', 1)]
    const { record, passed } = gatherAll([...all, ...all])
    expect(passed).toEqual([])
    expect(record?.gathered).toHaveLength(1)
  })

  it('tells an episode once, as it is by then', () => {
    const { record } = gatherAll([notice('fire', 'a'), notice('remind', 'a', 1, { title: 'Disk nearly full' })])
    expect(record?.gathered.map((entry) => entry.notice.title)).toEqual(['Disk nearly full'])
  })

  it('lets pass what has no room in it', () => {
    const many = Array.from({ length: mostGathered + 1 }, (_, index) => notice('fire', `episode-${index}`))
    const { record, passed } = gatherAll(many)
    expect([record?.gathered.length, passed]).toEqual([mostGathered, [`fire episode-${mostGathered}`]])
  })

  it('keeps what must wait, such as that of a host in maintenance', () => {
    const { record } = gatherAll([notice('fire', 'a'), notice('fire', 'b')])
    const told = flushed(record, windowMs, ({ episode }) => episode === 'a')
    expect(told?.notice.gathered.map(({ episode }) => episode)).toEqual(['b'])
    expect(told?.record?.gathered.map((entry) => entry.notice.episode)).toEqual(['a'])
    expect(flushed(told?.record, windowMs, () => true)).toBeUndefined()
  })

  it('is told at once when the clock was set back, and not a window later', () => {
    const { record } = gatherAll([notice('fire', 'a')], 1_000_000)
    expect(flushed(record, 10)?.notice).toMatchObject({ sinceMs: 10, atMs: 10 })
  })
})
