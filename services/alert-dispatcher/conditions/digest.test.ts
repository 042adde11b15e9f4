import { describe, expect, it } from 'vitest'
import { type DigestRecord, flushEndedDigest, addToDigest, maxDigestConditions } from './digest.ts'
import type { Notification } from '../notification.ts'

const windowMs = 15 * 60_000

const notification = (
  kind: Notification['kind'],
  episode: string,
  sequence = 0,
  more: Partial<Notification> = {},
): Notification => ({
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
  reason: 'threshold reached',
  gathered: [],
  ...more,
})

/** Adds notifications to a digest in order. Lists those that are sent on their own, such as `recover a`. */
const gatherAll = (notifications: readonly Notification[], atMs = 0) => {
  let record: DigestRecord | undefined
  const passed: string[] = []
  for (const each of notifications) {
    const gathering = addToDigest(record, { ...each, atMs })
    record = gathering.record
    if (gathering.passes) passed.push(`${each.kind} ${each.episode}`)
  }
  return { record, passed }
}

const flushed = (
  record: DigestRecord | undefined,
  nowMs: number,
  mustWait: (notification: Notification) => boolean = () => false,
) => flushEndedDigest(record, { windowMs, nowMs, episode: 'digest', mustWait })

describe('a digest', () => {
  it('collects warnings and sends one message when its window ends', () => {
    const { record, passed } = gatherAll([notification('fire', 'a'), notification('fire', 'b')], 1_000)
    expect(passed).toEqual([])
    expect(flushed(record, windowMs)).toBeUndefined()
    const notified = flushed(record, windowMs + 1_000)
    expect(notified?.record).toBeUndefined()
    expect(notified?.notification).toMatchObject({ kind: 'digest', title: '2 conditions', value: 2, sinceMs: 1_000 })
    expect(notified?.notification.gathered).toEqual([
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

  it('marks entries that recovered within the window and sends no separate recovery', () => {
    const { record, passed } = gatherAll([notification('fire', 'a'), notification('recover', 'a', 1)])
    expect(passed).toEqual([])
    expect(flushed(record, windowMs)?.notification.gathered).toMatchObject([{ episode: 'a', recovered: true }])
  })

  it('does so after a reminder too, if the window is longer than the cooldown', () => {
    const { record, passed } = gatherAll([
      notification('fire', 'a'),
      notification('remind', 'a', 1),
      notification('recover', 'a', 2),
    ])
    expect(passed).toEqual([])
    expect(flushed(record, windowMs)?.notification.gathered).toMatchObject([{ episode: 'a', recovered: true }])
  })

  it('passes the recovery of an earlier alert and drops its waiting reminder', () => {
    const { record, passed } = gatherAll([
      notification('remind', 'a', 3),
      notification('fire', 'b'),
      notification('recover', 'a', 4),
    ])
    expect(passed).toEqual(['recover a'])
    expect(flushed(record, windowMs)?.notification.gathered.map(({ episode }) => episode)).toEqual(['b'])
  })

  it('passes critical notifications at once and drops their waiting warning', () => {
    const worse = notification('escalate', 'a', 1, { severity: 'critical' })
    const { record, passed } = gatherAll([notification('fire', 'a'), worse])
    expect([record, passed]).toEqual([undefined, ['escalate a']])
  })

  it('adds the same notification once', () => {
    const all = [notification('fire', 'a'), notification('recover', 'a', 1)]
    const { record, passed } = gatherAll([...all, ...all])
    expect(passed).toEqual([])
    expect(record?.gathered).toHaveLength(1)
  })

  it('contains an episode once, in its latest state', () => {
    const { record } = gatherAll([
      notification('fire', 'a'),
      notification('remind', 'a', 1, { title: 'Disk nearly full' }),
    ])
    expect(record?.gathered.map((entry) => entry.notification.title)).toEqual(['Disk nearly full'])
  })

  it('passes notifications beyond its limit', () => {
    const many = Array.from({ length: maxDigestConditions + 1 }, (_, index) => notification('fire', `episode-${index}`))
    const { record, passed } = gatherAll(many)
    expect([record?.gathered.length, passed]).toEqual([maxDigestConditions, [`fire episode-${maxDigestConditions}`]])
  })

  it('keeps entries that must wait, for example during maintenance', () => {
    const { record } = gatherAll([notification('fire', 'a'), notification('fire', 'b')])
    const notified = flushed(record, windowMs, ({ episode }) => episode === 'a')
    expect(notified?.notification.gathered.map(({ episode }) => episode)).toEqual(['b'])
    expect(notified?.record?.gathered.map((entry) => entry.notification.episode)).toEqual(['a'])
    expect(flushed(notified?.record, windowMs, () => true)).toBeUndefined()
  })

  it('is sent at once if the clock was set back', () => {
    const { record } = gatherAll([notification('fire', 'a')], 1_000_000)
    expect(flushed(record, 10)?.notification).toMatchObject({ sinceMs: 10, atMs: 10 })
  })
})

describe('overdue notifications', () => {
  const overdue = { isOverdue: true }

  it('wait for those of all hosts, critical ones included, but not for the window', () => {
    const old = [
      notification('fire', 'a', 0, overdue),
      notification('fire', 'b', 0, { ...overdue, severity: 'critical' }),
    ]
    const { record, passed } = gatherAll([...old, notification('fire', 'c', 0, { severity: 'critical' })], 1_000)
    expect(passed).toEqual(['fire c'])
    expect(flushed(record, 1_000)).toBeUndefined()
    const sent = flushed(record, 6_000)
    expect(sent?.record).toBeUndefined()
    expect(sent?.notification).toMatchObject({
      title: '2 conditions',
      reason: 'firing since before alerting was enabled',
    })
  })
})
