import { pino } from 'pino'
import { expect, it } from 'vitest'
import { z } from 'zod'
import type { Delivered } from '#proto/delivery.ts'
import { openStore } from '#shared/store/open.ts'
import { openOutage } from '#shared/telemetry/outage.ts'
import { clockOf } from '#shared/time/clock.ts'
import { asMessage, deliveryIdOf } from '../notice.ts'
import { memoryDeliveries } from './deliveries.ts'
import type { HeldMessage, Notification } from './delivering.ts'
import { openHand } from './hand.ts'
import { noticeOf } from './testing/notice.ts'
import { briefRetry } from './testing/place.ts'

const log = pino({ level: 'silent' })
const notice = noticeOf()
const longMs = 60_000

/** A hand that holds one message for one target, on a database that may be away. */
const openOne = async (opened: AsyncDisposableStack, { claimMs = longMs, nowMs = 2_000 } = {}) => {
  const store = opened.use(await openStore({ env: {}, busIsShared: false }))
  const kept = memoryDeliveries()
  const database = { isAway: false }
  const put: typeof kept.put = async (rows) => {
    if (database.isAway) throw new Error('the database is away')
    await kept.put(rows)
  }
  const recording = openOutage(log, { begins: 'away', ends: 'there' })
  const shared = { deliveries: { ...kept, put }, recording, retry: briefRetry, clock: clockOf(() => nowMs), log }
  const hand = opened.use(openHand({ ...shared, outbox: store.outbox, claimMs }))
  const message: HeldMessage = { id: notice.id, notifications: new Set(), comesAgain: false }
  const opening = { keys: ['post:a'], isWhole: true, nowMs }
  const at = { channel: 'post', target: 'a', sinceMs: 1_000 }
  const notification: Notification = { message, notice, ...at, opening, kept: { isRecord: false } }
  message.notifications.add(notification)
  await store.update('state', z.number(), () => ({ value: 1, outbox: [asMessage(notice)] }))
  await store.outbox.claim(1, claimMs)
  hand.hold(message)
  const { id: _, kind, episode, sequence, ruleId, hostKey, severity } = notice
  const of = { kind, episode, sequence, ruleId, hostKey, severity, channel: 'post', target: 'a' }
  const row: Delivered = { ...of, id: deliveryIdOf(notification), atMs: 1, result: 'sent', reason: null, attempts: 1 }
  const isThere = async () => (await store.outbox.holds([notice.id])).size > 0
  return { store, hand, message, notification, row, database, isThere, rows: () => kept.list({ limit: 10 }) }
}

it('says that an end is on record, and that it is not while the database is away', async () => {
  await using opened = new AsyncDisposableStack()
  const { hand, row, database, rows } = await openOne(opened)
  database.isAway = true
  expect(await hand.record([row])).toBe(false)
  database.isAway = false
  // Until a later try has succeeded no end waits for it.
  expect(await hand.record([row])).toBe(false)
  expect(await rows()).toEqual([])
})

it('keeps a message until its end is on record', async () => {
  await using opened = new AsyncDisposableStack()
  const { hand, notification, row, database, isThere, rows } = await openOne(opened)
  database.isAway = true
  await hand.recordLater([notification], [row])
  await new Promise((resolve) => setTimeout(resolve, 5 * briefRetry.recordAgainMs))
  expect([await isThere(), await rows()]).toEqual([true, []])
  database.isAway = false
  await expect.poll(isThere).toBe(false)
  expect(await rows()).toMatchObject([{ id: row.id, result: 'sent' }])
  expect(await hand.record([row])).toBe(true)
})

it('waits for a record no longer than the notification lives', async () => {
  await using opened = new AsyncDisposableStack()
  const { hand, notification, row, database, isThere, rows } = await openOne(opened, { nowMs: 1_000_000 })
  database.isAway = true
  await hand.recordLater([notification], [row])
  await expect.poll(isThere).toBe(false)
  expect(await rows()).toEqual([])
})

it('ends a message with the last of its notifications', async () => {
  await using opened = new AsyncDisposableStack()
  const { hand, message, notification, isThere } = await openOne(opened)
  const other = { ...notification, target: 'b' }
  message.notifications.add(other)
  expect(hand.endingWith([notification])).toEqual([])
  await hand.ended([notification], [])
  expect(await isThere()).toBe(true)
  expect(hand.endingWith([other])).toEqual([message.id])
  await hand.ended([other], [])
  expect([await isThere(), hand.isHeld(message)]).toEqual([false, false])
})

it('keeps a message in the outbox of which a notification was put off', async () => {
  await using opened = new AsyncDisposableStack()
  const { store, hand, message, notification, isThere } = await openOne(opened)
  const other = { ...notification, target: 'b' }
  message.notifications.add(other)
  await hand.putOff(other)
  expect([hand.isHeld(message), hand.endingWith([notification])]).toEqual([true, []])
  await hand.ended([notification], [])
  expect([hand.isHeld(message), await isThere()]).toEqual([false, true])
  expect(await store.outbox.claim(10, longMs)).toEqual([])
})

it('renews its claims, and gives them back when it is disposed', async () => {
  await using opened = new AsyncDisposableStack()
  const { store, hand, message } = await openOne(opened, { claimMs: 300 })
  await new Promise((resolve) => setTimeout(resolve, 700))
  expect(await store.outbox.claim(10, longMs)).toEqual([])
  await hand[Symbol.asyncDispose]()
  await expect.poll(async () => (await store.outbox.claim(10, longMs)).map(({ id }) => id)).toEqual([message.id])
})
