import { describe, expect, it } from 'vitest'
import type { SendResult } from '../channels/channel.ts'
import {
  type DeliveryRecord,
  begin,
  cutOff,
  end,
  endDigest,
  gatherFor,
  giveUp,
  isUnderWay,
  open,
  openedFor,
  standingOf,
  withdrawSend,
} from './record.ts'

const fire = { kind: 'fire', sequence: 0 } as const
const remind = { kind: 'remind', sequence: 1 } as const
const recover = { kind: 'recover', sequence: 2 } as const
type Meant = Parameters<typeof open>[1]
const ok: SendResult = { kind: 'ok' }
const failed: SendResult = { kind: 'retry', reason: 'answered 503' }
const silent: SendResult = { kind: 'retry', reason: 'did not answer', mayHaveArrived: true }

const opening = (keys: readonly string[] = ['a']) => ({ keys, isWhole: true, nowMs: 1 })
const opened = open(undefined, fire, opening())
const then = (record: DeliveryRecord, notice: Meant, keys: readonly string[] = []) =>
  open(record, notice, opening(keys))
const sent = (record: DeliveryRecord, notice: Meant, result: SendResult, { key = 'a', isOver = false } = {}) =>
  end(begin(record, key, notice), key, notice, { result, isOver })
const told = sent(opened, fire, ok)
const known = (record: DeliveryRecord, key = 'a') => record.recipients[key]

const late = { end: 'dropped', reason: 'a later notice says more' }
const recovered = { end: 'dropped', reason: 'it recovered before it could be told' }
const never = { end: 'dropped', reason: 'it was never told of what has recovered' }

describe('what a target is told', () => {
  it.each<[string, DeliveryRecord, Meant, unknown]>([
    ['a fire', opened, fire, 'send'],
    ['a fire once', told, fire, 'sent'],
    ['a fire once, also when it comes again after its recovery', sent(then(told, recover), recover, ok), fire, 'sent'],
    ['a fire again whose send was cut off', cutOff(begin(opened, 'a', fire), 'a'), fire, 'send'],
    ['a reminder', then(told, remind, ['a']), remind, 'send'],
    ['the reminder alone when the fire is late', then(opened, remind, ['a']), fire, late],
    ['the recovery of what it was told', then(told, recover), recover, 'send'],
    ['no recovery of what it was never told', then(opened, recover), recover, never],
    ['no fire that has recovered', then(opened, recover), fire, recovered],
    ['no fire that recovered before it was opened for it', open(undefined, recover, opening(['b'])), fire, recovered],
    ['no recovery of what it refused', then(sent(opened, fire, failed), recover), recover, never],
    ['the recovery of what it may have heard', then(sent(opened, fire, silent), recover), recover, 'send'],
    [
      'the recovery after a send that was cut off',
      cutOff(then(begin(opened, 'a', fire), recover), 'a'),
      recover,
      'send',
    ],
    [
      'no recovery when the fire that was being sent failed after all',
      end(then(begin(opened, 'a', fire), recover), 'a', fire, { result: failed, isOver: false }),
      recover,
      never,
    ],
    [
      'the recovery, where the store lost who was told and the database knows',
      open(undefined, recover, { keys: ['a'], told: [{ key: 'a', sequence: 0 }], isWhole: false, nowMs: 1 }),
      recover,
      'send',
    ],
    [
      'the recovery, where nothing says who was told',
      open(undefined, recover, { keys: ['a'], mayKnow: true, isWhole: false, nowMs: 1 }),
      recover,
      'send',
    ],
    [
      'no recovery while the digest that tells the fire is under way',
      then(gatherFor(undefined, ['a'], 'd', 1), recover),
      recover,
      'wait',
    ],
    [
      'the recovery of what a digest told',
      then(endDigest(gatherFor(undefined, ['a'], 'd', 1), 'a', true), recover),
      recover,
      'send',
    ],
    [
      'no recovery when the digest was given up',
      then(endDigest(gatherFor(undefined, ['a'], 'd', 1), 'a', false), recover),
      recover,
      never,
    ],
    [
      'nothing that was given up',
      giveUp(opened, 'a', fire, { state: 'dead', reason: 'too late' }),
      fire,
      { end: 'dead', reason: 'too late' },
    ],
    [
      'what was given up and is to be sent again',
      open(giveUp(opened, 'a', fire, { state: 'dead', reason: null }), fire, { ...opening(), isReplay: true }),
      fire,
      'send',
    ],
    [
      'what was dropped and is to be sent again',
      open(giveUp(opened, 'a', fire, { state: 'dropped', reason: null }), fire, { ...opening(), isReplay: true }),
      fire,
      'send',
    ],
  ])('is %s', (_name, record, notice, expected) => {
    expect(standingOf(record, 'a', notice)).toEqual(expected)
  })
})

describe('the record of an episode', () => {
  it('is the same when the same is opened again', () => {
    expect(then(told, fire, ['a'])).toEqual(told)
    expect(then(then(told, recover), fire, ['a'])).toEqual(then(told, recover))
  })

  it('goes through its states', () => {
    const states = [
      opened,
      begin(opened, 'a', fire),
      withdrawSend(begin(opened, 'a', fire), 'a', fire),
      sent(opened, fire, failed),
      told,
      sent(opened, fire, failed, { isOver: true }),
      giveUp(opened, 'a', fire, { state: 'dropped', reason: null }),
    ]
    expect(states.map((record) => known(record)?.state)).toEqual([
      'pending',
      'sending',
      'pending',
      'retry',
      'sent',
      'dead',
      'dropped',
    ])
    expect(states.map(isUnderWay)).toEqual([true, true, true, true, false, false, false])
  })

  it('keeps targets apart', () => {
    const one = sent(open(undefined, fire, opening(['a', 'b'])), fire, ok)
    expect([known(one)?.taken, known(one, 'b')?.taken]).toEqual([[0], []])
    expect(isUnderWay(one)).toBe(true)
  })

  it('counts failures of the latest notice, and from nought for the next', () => {
    const twice = sent(sent(opened, fire, failed), fire, failed)
    expect(known(twice)?.attempts).toBe(2)
    expect(known(then(twice, remind, ['a']))?.attempts).toBe(0)
  })

  it('never forgets a later notice for an earlier one', () => {
    const ended = sent(then(told, recover), recover, ok)
    expect(known(sent(ended, remind, ok))).toMatchObject({ taken: [0, 1, 2], sequence: 2, state: 'sent' })
  })

  it('remembers the last few that a target took', () => {
    const many = Array.from({ length: 20 }, (_, sequence) => ({ kind: 'remind', sequence }) as const)
    const after = many.reduce((record, notice) => sent(then(record, notice, ['a']), notice, ok), opened)
    expect(known(after)?.taken).toEqual([12, 13, 14, 15, 16, 17, 18, 19])
  })

  it('opens an end for all who take part, and all else for whom it is meant', () => {
    const both = open(undefined, fire, opening(['a', 'b']))
    expect(openedFor(then(both, remind, ['a']), remind)).toEqual(['a'])
    expect(openedFor(then(both, recover, ['c']), recover).toSorted()).toEqual(['a', 'b', 'c'])
  })

  it('leaves what a target knew when a digest tells it again', () => {
    expect(known(gatherFor(told, ['a'], 'd', 1))).toMatchObject({ taken: [0], digest: null })
  })
})
