import { pino } from 'pino'
import { expect, it } from 'vitest'
import { z } from 'zod'
import type { CompletedDelivery } from '#proto/delivery.ts'
import { openStore } from '#shared/store/open.ts'
import { openOutageLog } from '#shared/telemetry/outage.ts'
import { createClock } from '#shared/time/clock.ts'
import { toOutboxMessage, getDeliveryId } from '../notification.ts'
import { createMemoryDeliveries } from './deliveries.ts'
import type { ClaimedOutboxMessage, PendingDelivery } from './delivery-deps.ts'
import { openClaims } from './claims.ts'
import { createNotification } from './testing/notification.ts'
import { shortRetryPlan } from './testing/fixture.ts'

const log = pino({ level: 'silent' })
const notification = createNotification()
const longMs = 60_000

/** Opens claims with one message for one target, with a database that may be unavailable. */
const openOne = async (opened: AsyncDisposableStack, { claimMs = longMs, nowMs = 2_000 } = {}) => {
  const store = opened.use(await openStore({ env: {}, busIsShared: false }))
  const recordState = createMemoryDeliveries()
  const database = { isAway: false }
  const put: typeof recordState.put = async (rows) => {
    if (database.isAway) throw new Error('the database is unavailable')
    await recordState.put(rows)
  }
  const recording = openOutageLog(log, { begins: 'away', ends: 'there' })
  const shared = {
    deliveries: { ...recordState, put },
    recording,
    retry: shortRetryPlan,
    clock: createClock(() => nowMs),
    log,
  }
  const claims = opened.use(openClaims({ ...shared, outbox: store.outbox, claimMs }))
  const message: ClaimedOutboxMessage = { id: notification.id, notifications: new Set(), comesAgain: false }
  const opening = { keys: ['post:a'], isWhole: true, nowMs }
  const at = { channel: 'post', target: 'a', sinceMs: 1_000 }
  const delivery: PendingDelivery = { message, notification, ...at, opening, recordState: { isStored: false } }
  message.notifications.add(delivery)
  await store.update('state', z.number(), () => ({ value: 1, outbox: [toOutboxMessage(notification)] }))
  await store.outbox.claim(1, claimMs)
  claims.hold(message)
  const { id: _, kind, episode, sequence, ruleId, hostKey, severity } = notification
  const of = { kind, episode, sequence, ruleId, hostKey, severity, channel: 'post', target: 'a' }
  const row: CompletedDelivery = {
    ...of,
    id: getDeliveryId(delivery),
    atMs: 1,
    result: 'sent',
    reason: null,
    attempts: 1,
  }
  const isThere = async () => (await store.outbox.holds([notification.id])).size > 0
  return { store, claims, message, delivery, row, database, isThere, rows: () => recordState.list({ limit: 10 }) }
}

it('reports whether a result is recorded, and that it is not while the database is unavailable', async () => {
  await using opened = new AsyncDisposableStack()
  const { claims, row, database, rows } = await openOne(opened)
  database.isAway = true
  expect(await claims.record([row])).toBe(false)
  database.isAway = false
  // After a failure, `record` does not wait for the database until a repeated attempt has succeeded.
  expect(await claims.record([row])).toBe(false)
  expect(await rows()).toEqual([])
})

it('keeps a message until its result is recorded', async () => {
  await using opened = new AsyncDisposableStack()
  const { claims, delivery, row, database, isThere, rows } = await openOne(opened)
  database.isAway = true
  await claims.recordLater([delivery], [row])
  await new Promise((resolve) => setTimeout(resolve, 5 * shortRetryPlan.recordAgainMs))
  expect([await isThere(), await rows()]).toEqual([true, []])
  database.isAway = false
  await expect.poll(isThere).toBe(false)
  expect(await rows()).toMatchObject([{ id: row.id, result: 'sent' }])
  expect(await claims.record([row])).toBe(true)
})

it('stops recording after the lifetime of the notification', async () => {
  await using opened = new AsyncDisposableStack()
  const { claims, delivery, row, database, isThere, rows } = await openOne(opened, { nowMs: 1_000_000 })
  database.isAway = true
  await claims.recordLater([delivery], [row])
  await expect.poll(isThere).toBe(false)
  expect(await rows()).toEqual([])
})

it('ends a message with its last delivery', async () => {
  await using opened = new AsyncDisposableStack()
  const { claims, message, delivery, isThere } = await openOne(opened)
  const other = { ...delivery, target: 'b' }
  message.notifications.add(other)
  expect(claims.endingWith([delivery])).toEqual([])
  await claims.ended([delivery], [])
  expect(await isThere()).toBe(true)
  expect(claims.endingWith([other])).toEqual([message.id])
  await claims.ended([other], [])
  expect([await isThere(), claims.isHeld(message)]).toEqual([false, false])
})

it('keeps a message with a postponed delivery in the outbox', async () => {
  await using opened = new AsyncDisposableStack()
  const { store, claims, message, delivery, isThere } = await openOne(opened)
  const other = { ...delivery, target: 'b' }
  message.notifications.add(other)
  await claims.postpone(other)
  expect([claims.isHeld(message), claims.endingWith([delivery])]).toEqual([true, []])
  await claims.ended([delivery], [])
  expect([claims.isHeld(message), await isThere()]).toEqual([false, true])
  expect(await store.outbox.claim(10, longMs)).toEqual([])
})

it('renews its claims and releases them on disposal', async () => {
  await using opened = new AsyncDisposableStack()
  const { store, claims, message } = await openOne(opened, { claimMs: 300 })
  await new Promise((resolve) => setTimeout(resolve, 700))
  expect(await store.outbox.claim(10, longMs)).toEqual([])
  await claims[Symbol.asyncDispose]()
  await expect.poll(async () => (await store.outbox.claim(10, longMs)).map(({ id }) => id)).toEqual([message.id])
})
