import { describe, expect, it } from 'vitest'
import type { SendResult } from '../channels/channel.ts'
import {
  type Known,
  type Ledger,
  cutOff,
  digestEnded,
  gatherFor,
  gaveUp,
  keepNotice,
  meanFor,
  sent,
  standingOf,
  waitingIn,
} from './ledger.ts'
import { noticeOf } from './testing/notice.ts'

const fire = { kind: 'fire', sequence: 0 } as const
const remind = { kind: 'remind', sequence: 1 } as const
const recover = { kind: 'recover', sequence: 2 } as const
const ok: SendResult = { kind: 'ok' }
const failed: SendResult = { kind: 'retry', reason: 'answered 503' }
const silent: SendResult = { kind: 'retry', reason: 'did not answer', mayHaveArrived: true }
const known = (ledger: Ledger, key = 'a'): Known | undefined => ledger.targets[key]

const meant = meanFor(undefined, ['a'], fire)
const told = sent(meant, 'a', fire, ok)
const recovering = (ledger: Ledger) => meanFor(ledger, ['a'], recover)

describe('what a target is told', () => {
  it.each<[string, Known | undefined, Parameters<typeof standingOf>[1], ReturnType<typeof standingOf>]>([
    ['a fire', known(meant), fire, 'send'],
    ['a fire once', known(told), fire, 'told'],
    [
      'a fire once, also when it comes again after its recovery',
      known(sent(recovering(told), 'a', recover, ok)),
      fire,
      'told',
    ],
    ['whatever comes when the ledger is lost', undefined, recover, 'send'],
    ['a reminder', known(meanFor(told, ['a'], remind)), remind, 'send'],
    [
      'the reminder alone when the fire is late',
      known(meanFor(meant, ['a'], remind)),
      fire,
      { drop: 'a later notice says more' },
    ],
    ['the recovery of what it was told', known(recovering(told)), recover, 'send'],
    [
      'no recovery of what it was never told',
      known(recovering(meant)),
      recover,
      { drop: 'it was never told of what has recovered' },
    ],
    ['no fire that has recovered', known(recovering(meant)), fire, { drop: 'it recovered before it could be told' }],
    [
      'no recovery of what it refused',
      known(recovering(sent(meant, 'a', fire, failed))),
      recover,
      { drop: 'it was never told of what has recovered' },
    ],
    ['the recovery of what it may have heard', known(recovering(sent(meant, 'a', fire, silent))), recover, 'send'],
    ['the recovery after a send that was cut off', known(recovering(cutOff(meant, 'a'))), recover, 'send'],
    [
      'no recovery while the digest that tells the fire is under way',
      known(recovering(gatherFor(undefined, ['a'], 'd'))),
      recover,
      'wait',
    ],
    [
      'the recovery of what a digest told',
      known(recovering(digestEnded(gatherFor(undefined, ['a'], 'd'), 'a', true))),
      recover,
      'send',
    ],
    [
      'no recovery when the digest was given up',
      known(recovering(digestEnded(gatherFor(undefined, ['a'], 'd'), 'a', false))),
      recover,
      { drop: 'it was never told of what has recovered' },
    ],
  ])('is %s', (_name, state, notice, expected) => {
    expect(standingOf(state, notice)).toEqual(expected)
  })
})

describe('the ledger', () => {
  it('is the same when the same is meant again', () => {
    expect(meanFor(told, ['a'], fire)).toEqual(told)
    expect(meanFor(recovering(told), ['a'], fire)).toEqual(recovering(told))
  })

  it('keeps targets apart', () => {
    const both = meanFor(undefined, ['a', 'b'], fire)
    const one = sent(both, 'a', fire, ok)
    expect([known(one)?.told, known(one, 'b')?.told]).toEqual([0, null])
  })

  it('counts failures of the latest notice, and from nought for the next', () => {
    const twice = sent(sent(meant, 'a', fire, failed), 'a', fire, failed)
    expect(known(twice)?.failures).toBe(2)
    expect(known(meanFor(twice, ['a'], remind))?.failures).toBe(0)
  })

  it('never forgets a later notice for an earlier one', () => {
    const ended = sent(recovering(told), 'a', recover, ok)
    expect(known(sent(ended, 'a', remind, ok))).toMatchObject({ told: 2, latest: 2, ends: true })
  })

  it('leaves what a target knew when a digest tells it again', () => {
    expect(known(gatherFor(told, ['a'], 'd'))).toMatchObject({ told: 0, digest: null })
  })
})

describe('the notice in the ledger', () => {
  const notices = { fire: noticeOf(fire), recover: noticeOf(recover) }
  const kept = (ledger: Ledger | undefined, which: keyof typeof notices, keys: readonly string[] = ['a', 'b']) =>
    keepNotice(meanFor(ledger, keys, notices[which]), notices[which])
  const first = kept(undefined, 'fire')

  it.each<[string, Ledger, string[]]>([
    ['waits for all of its targets', first, ['a', 'b']],
    ['waits for those that have yet to take it', sent(first, 'a', fire, ok), ['b']],
    ['waits for those that failed', sent(first, 'a', fire, failed), ['a', 'b']],
    ['waits no more where it was given up', gaveUp(first, 'a', 0), ['b']],
    ['waits where an earlier one was given up', kept(gaveUp(told, 'a', 0), 'recover', ['a']), ['a']],
    [
      'waits for those alone that took the fire, once it is the end',
      kept(sent(first, 'a', fire, ok), 'recover'),
      ['a'],
    ],
    ['waits for nobody whom a digest tells', kept(gatherFor(undefined, ['a'], 'd'), 'fire'), ['b']],
    [
      'waits for nobody whose digest was given up',
      digestEnded(kept(gatherFor(undefined, ['a'], 'd'), 'fire'), 'a', false),
      ['b'],
    ],
    [
      'waits, as the end, for the digest that tells the fire',
      kept(gatherFor(undefined, ['a'], 'd'), 'recover', ['a']),
      ['a'],
    ],
    ['stays the later one', kept(kept(told, 'recover', ['a']), 'fire', ['a']), ['a']],
  ])('%s', (_name, ledger, expected) => {
    expect(waitingIn(ledger)).toEqual(expected)
  })

  it('goes once nobody waits for it', () => {
    expect(first.notice).toEqual(notices.fire)
    expect(sent(sent(first, 'a', fire, ok), 'b', fire, ok).notice).toBeUndefined()
    expect(kept(first, 'recover').notice).toBeUndefined()
  })
})
