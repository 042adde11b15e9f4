import { describe, expect, it } from 'vitest'
import type { SendResult } from '../channels/channel.ts'
import {
  type DeliveryRecord,
  markSending,
  markInterrupted,
  recordSendEnd,
  endDigest,
  recordDigestRecipients,
  markUndelivered,
  hasUnfinishedDelivery,
  addPendingDeliveries,
  listAddressedTargets,
  decideNextStep,
  withdrawSend,
} from './delivery-record.ts'

const fire = { kind: 'fire', sequence: 0 } as const
const remind = { kind: 'remind', sequence: 1 } as const
const recover = { kind: 'recover', sequence: 2 } as const
type NotificationKey = Parameters<typeof addPendingDeliveries>[1]
const ok: SendResult = { kind: 'ok' }
const failed: SendResult = { kind: 'retry', reason: 'HTTP 503' }
const silent: SendResult = { kind: 'retry', reason: 'did not answer', mayHaveArrived: true }

const opening = (keys: readonly string[] = ['a']) => ({ keys, isWhole: true, nowMs: 1 })
const opened = addPendingDeliveries(undefined, fire, opening())
const then = (record: DeliveryRecord, notification: NotificationKey, keys: readonly string[] = []) =>
  addPendingDeliveries(record, notification, opening(keys))
const sent = (
  record: DeliveryRecord,
  notification: NotificationKey,
  result: SendResult,
  { key = 'a', isOver = false } = {},
) => recordSendEnd(markSending(record, key, notification), key, notification, { result, isOver })
const notified = sent(opened, fire, ok)
const known = (record: DeliveryRecord, key = 'a') => record.recipients[key]

const late = { end: 'dropped', reason: 'superseded by a later notification' }
const recovered = { end: 'dropped', reason: 'recovered before it was sent' }
const never = { end: 'dropped', reason: 'the target never received the alert that recovered' }

describe('the next step for a target', () => {
  it.each<[string, DeliveryRecord, NotificationKey, unknown]>([
    ['an alert', opened, fire, 'send'],
    ['an alert once', notified, fire, 'sent'],
    [
      'an alert once, even if it is repeated after its recovery',
      sent(then(notified, recover), recover, ok),
      fire,
      'sent',
    ],
    ['an alert again after an interrupted send', markInterrupted(markSending(opened, 'a', fire), 'a'), fire, 'send'],
    ['a reminder', then(notified, remind, ['a']), remind, 'send'],
    ['only the reminder if the alert is late', then(opened, remind, ['a']), fire, late],
    ['the recovery of a received alert', then(notified, recover), recover, 'send'],
    ['no recovery of an alert that it never received', then(opened, recover), recover, never],
    ['no alert that has recovered', then(opened, recover), fire, recovered],
    [
      'no alert that recovered before it was opened for the target',
      addPendingDeliveries(undefined, recover, opening(['b'])),
      fire,
      recovered,
    ],
    ['no recovery of a rejected alert', then(sent(opened, fire, failed), recover), recover, never],
    ['the recovery of an alert that may have arrived', then(sent(opened, fire, silent), recover), recover, 'send'],
    [
      'the recovery after an interrupted send',
      markInterrupted(then(markSending(opened, 'a', fire), recover), 'a'),
      recover,
      'send',
    ],
    [
      'no recovery if sending the alert failed',
      recordSendEnd(then(markSending(opened, 'a', fire), recover), 'a', fire, { result: failed, isOver: false }),
      recover,
      never,
    ],
    [
      'the recovery, if only the database has the recipients',
      addPendingDeliveries(undefined, recover, {
        keys: ['a'],
        notified: [{ key: 'a', sequence: 0 }],
        isWhole: false,
        nowMs: 1,
      }),
      recover,
      'send',
    ],
    [
      'the recovery, if the recipients are unknown',
      addPendingDeliveries(undefined, recover, { keys: ['a'], mayKnow: true, isWhole: false, nowMs: 1 }),
      recover,
      'send',
    ],
    [
      'no recovery while the digest with the alert is being delivered',
      then(recordDigestRecipients(undefined, ['a'], 'd', 1), recover),
      recover,
      'wait',
    ],
    [
      'the recovery of an alert in a delivered digest',
      then(endDigest(recordDigestRecipients(undefined, ['a'], 'd', 1), 'a', true), recover),
      recover,
      'send',
    ],
    [
      'no recovery if the digest was given up',
      then(endDigest(recordDigestRecipients(undefined, ['a'], 'd', 1), 'a', false), recover),
      recover,
      never,
    ],
    [
      'nothing after a dead letter',
      markUndelivered(opened, 'a', fire, { state: 'dead', reason: 'too late' }),
      fire,
      { end: 'dead', reason: 'too late' },
    ],
    [
      'a dead letter that is resent',
      addPendingDeliveries(markUndelivered(opened, 'a', fire, { state: 'dead', reason: null }), fire, {
        ...opening(),
        isReplay: true,
      }),
      fire,
      'send',
    ],
    [
      'a dropped notification that is resent',
      addPendingDeliveries(markUndelivered(opened, 'a', fire, { state: 'dropped', reason: null }), fire, {
        ...opening(),
        isReplay: true,
      }),
      fire,
      'send',
    ],
  ])('is %s', (_name, record, notification, expected) => {
    expect(decideNextStep(record, 'a', notification)).toEqual(expected)
  })
})

describe('the delivery record of an episode', () => {
  it('stays the same if a notification is opened again', () => {
    expect(then(notified, fire, ['a'])).toEqual(notified)
    expect(then(then(notified, recover), fire, ['a'])).toEqual(then(notified, recover))
  })

  it('changes its state with each step', () => {
    const states = [
      opened,
      markSending(opened, 'a', fire),
      withdrawSend(markSending(opened, 'a', fire), 'a', fire),
      sent(opened, fire, failed),
      notified,
      sent(opened, fire, failed, { isOver: true }),
      markUndelivered(opened, 'a', fire, { state: 'dropped', reason: null }),
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
    expect(states.map(hasUnfinishedDelivery)).toEqual([true, true, true, true, false, false, false])
  })

  it('is independent per target', () => {
    const one = sent(addPendingDeliveries(undefined, fire, opening(['a', 'b'])), fire, ok)
    expect([known(one)?.taken, known(one, 'b')?.taken]).toEqual([[0], []])
    expect(hasUnfinishedDelivery(one)).toBe(true)
  })

  it('counts failures of the latest notification and restarts for the next', () => {
    const twice = sent(sent(opened, fire, failed), fire, failed)
    expect(known(twice)?.attempts).toBe(2)
    expect(known(then(twice, remind, ['a']))?.attempts).toBe(0)
  })

  it('never replaces a later notification with an earlier one', () => {
    const ended = sent(then(notified, recover), recover, ok)
    expect(known(sent(ended, remind, ok))).toMatchObject({ taken: [0, 1, 2], sequence: 2, state: 'sent' })
  })

  it('remembers the last notifications that a target received', () => {
    const many = Array.from({ length: 20 }, (_, sequence) => ({ kind: 'remind', sequence }) as const)
    const after = many.reduce(
      (record, notification) => sent(then(record, notification, ['a']), notification, ok),
      opened,
    )
    expect(known(after)?.taken).toEqual([12, 13, 14, 15, 16, 17, 18, 19])
  })

  it('opens a recovery for all targets of the episode, and others for their recipients', () => {
    const both = addPendingDeliveries(undefined, fire, opening(['a', 'b']))
    expect(listAddressedTargets(then(both, remind, ['a']), remind)).toEqual(['a'])
    expect(listAddressedTargets(then(both, recover, ['c']), recover).toSorted()).toEqual(['a', 'b', 'c'])
  })

  it('keeps earlier deliveries when a digest repeats the alert', () => {
    expect(known(recordDigestRecipients(notified, ['a'], 'd', 1))).toMatchObject({ taken: [0], digest: null })
  })
})
