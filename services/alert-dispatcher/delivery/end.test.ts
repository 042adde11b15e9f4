import { clockOf } from '#shared/time/clock.ts'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { openStore } from '#shared/store/open.ts'
import { openOutage } from '#shared/telemetry/outage.ts'
import type { Queued } from '../notice.ts'
import type { Ended } from './delivering.ts'
import { end } from './after-send.ts'
import { memoryDeliveries } from './deliveries.ts'
import { noticeOf } from './testing/notice.ts'
import { briefRetry } from './testing/place.ts'

const queued: Queued = { notice: noticeOf(), channel: 'post', target: 'a', queuedAtMs: 1_000 }
const sent: Ended = { result: 'sent', reason: null, attempts: 1 }
const dropped: Ended = { result: 'dropped', reason: 'a later notice says more', attempts: 0 }
const dead: Ended = { result: 'dead', reason: 'answered 400', attempts: 1 }
const lifeEndsAtMs = queued.queuedAtMs + briefRetry.lifeMs.others
const again = { againInMs: briefRetry.recordAgainMs }

const endWith = async (ended: Ended, { nowMs, isAway }: { nowMs: number; isAway: boolean }) => {
  await using store = await openStore({ env: {}, busIsShared: false })
  const kept = memoryDeliveries()
  const put: typeof kept.put = async (delivered) => {
    if (isAway) throw new Error('the database is away')
    await kept.put(delivered)
  }
  const clock = clockOf(() => nowMs)
  const recording = openOutage(pino({ level: 'silent' }), { begins: 'away', ends: 'there' })
  const outcome = await end({ store, deliveries: { ...kept, put }, clock, recording, retry: briefRetry }, queued, ended)
  return { outcome, recorded: await kept.list({ limit: 10 }) }
}

it.each([
  ['is done once it is on record', sent, { nowMs: 2_000, isAway: false }, 'done'],
  ['comes again while what was sent cannot be recorded', sent, { nowMs: 2_000, isAway: true }, again],
  ['comes again while what was dropped cannot be recorded', dropped, { nowMs: 2_000, isAway: true }, again],
  ['is waited for no longer than it lives', sent, { nowMs: lifeEndsAtMs, isAway: true }, 'done'],
  ['is a dead letter whether or not that is on record', dead, { nowMs: 2_000, isAway: true }, { dead: 'answered 400' }],
] as const)('a message that ended %s', async (_, ended, when, expected) => {
  const { outcome, recorded } = await endWith(ended, when)
  expect(outcome).toEqual(expected)
  expect(recorded.map(({ result }) => result)).toEqual(when.isAway ? [] : [ended.result])
})
