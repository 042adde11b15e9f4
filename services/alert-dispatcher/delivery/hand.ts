import type { Logger } from 'pino'
import { type Batches, inBatches } from '#shared/bus/durable/batches.ts'
import type { Delivered } from '#proto/delivery.ts'
import { type Clock, ageMs } from '#shared/time/clock.ts'
import type { Outbox } from '#shared/store/store.ts'
import type { Delivering, HeldMessage, Notification } from './delivering.ts'

/** Bounds of what a process claims; tests shorten the time. */
export interface ClaimLimits {
  /** Messages claimed at once. */
  atOnce: number
  /** What a process that died had claimed is claimed by another after this long. */
  claimMs: number
}

/** The messages of the outbox that this process holds: it renews their claims until each of their notifications has an end. */
export interface Hand extends AsyncDisposable {
  /** In place of what it held under the id: that is delivered no more. */
  hold(message: HeldMessage): void
  isHeld(message: HeldMessage): boolean
  /** Ids of the messages that end once these notifications have. */
  endingWith(notifications: Iterable<Notification>): string[]
  /** Notifications that have their end; those of `acked` messages need no acknowledgement any more. */
  ended(notifications: Iterable<Notification>, acked: readonly string[]): Promise<void>
  /** Puts ends on record; false when the database has not taken them in a moment. */
  record(rows: readonly Delivered[]): Promise<boolean>
  /** Notifications with an end that is not on record yet: tried again while they live, then they end without. */
  recordLater(notifications: readonly Notification[], rows: readonly Delivered[]): Promise<void>
  /** A notification leaves without an end: its message comes again after a while, once none of it waits here. */
  putOff(notification: Notification): Promise<void>
  /** Forgets messages that are in the outbox no more. */
  forget(messages: Iterable<HeldMessage>): void
}

/** Renewed this often within the time of a claim. */
const renewals = 3
/** The longest that a message stays away which there was no room for; half of it at least. */
const awayMs = 60_000
/** Ends that wait for their record; what is beyond is given back, and found to be sent when it comes again. */
const maxUnrecorded = 2_000
const recordedAtOnce = 500

/** A database that hangs keeps an end from being written for no longer than this. */
const putWithinMs = 250

type Holding = Pick<Delivering, 'deliveries' | 'recording' | 'retry'> & {
  outbox: Outbox
  clock: Clock
  log: Logger
  claimMs: number
}

/** Opens an empty hand; disposed, it gives back what it holds at once. */
export const openHand = (holding: Holding): Hand => new OpenHand(holding)

class OpenHand implements Hand {
  readonly #holding: Holding
  readonly #held = new Map<string, HeldMessage>()
  readonly #unrecorded = new Map<Notification, Delivered>()
  readonly #timers: readonly NodeJS.Timeout[]
  /** What comes at the same time is written together. */
  readonly #rows: Batches<Delivered>
  #isAway = false
  #recording: Promise<void> | undefined

  constructor(holding: Holding) {
    const { claimMs, retry, deliveries } = holding
    this.#holding = holding
    this.#rows = inBatches((rows) => deliveries.put([...new Map(rows.map((row) => [row.id, row])).values()]))
    this.#timers = [
      setInterval(() => void this.#renew(), claimMs / renewals).unref(),
      setInterval(() => {
        this.#recording ??= this.#recordAgain().finally(() => (this.#recording = undefined))
      }, retry.recordAgainMs).unref(),
    ]
  }

  hold(message: HeldMessage): void {
    this.#held.set(message.id, message)
  }

  isHeld(message: HeldMessage): boolean {
    return this.#held.get(message.id) === message
  }

  endingWith(notifications: Iterable<Notification>): string[] {
    const ending = new Set(notifications)
    const messages = new Set([...ending].map(({ message }) => message))
    return [...messages].flatMap(({ id, comesAgain, notifications: open }) =>
      !comesAgain && [...open].every((each) => ending.has(each)) ? [id] : [],
    )
  }

  async ended(notifications: Iterable<Notification>, acked: readonly string[]): Promise<void> {
    const messages = new Set<HeldMessage>()
    for (const notification of notifications) {
      this.#unrecorded.delete(notification)
      notification.message.notifications.delete(notification)
      if (notification.message.notifications.size === 0) messages.add(notification.message)
    }
    const again = [...messages].filter(({ comesAgain }) => comesAgain)
    if (again.length > 0) await this.#giveBack(again)
    await this.#holding.outbox.ack(this.#forget(messages).filter((id) => !acked.includes(id)))
  }

  async record(rows: readonly Delivered[]): Promise<boolean> {
    return !this.#isAway && (await within(putWithinMs, this.#put(rows)))
  }

  async recordLater(notifications: readonly Notification[], rows: readonly Delivered[]): Promise<void> {
    for (const [index, notification] of notifications.entries()) {
      const row = rows[index]
      if (row) this.#unrecorded.set(notification, row)
    }
    const beyond = [...this.#unrecorded.keys()].slice(0, Math.max(0, this.#unrecorded.size - maxUnrecorded))
    await this.#giveBack(new Set(beyond.map(({ message }) => message)))
  }

  async putOff(notification: Notification): Promise<void> {
    const { message } = notification
    message.notifications.delete(notification)
    message.comesAgain = true
    if (message.notifications.size === 0) await this.#giveBack([message])
  }

  forget(messages: Iterable<HeldMessage>): void {
    this.#forget(messages)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await this.#recording
    await this.#recordAgain()
    // At once for whoever is left; else when the claims are over.
    await this.#holding.outbox.renew([...this.#held.keys()], 1).catch(() => {})
    this.#held.clear()
  }

  #forget(messages: Iterable<HeldMessage>): string[] {
    return [...messages].flatMap((message) => {
      for (const notification of message.notifications) this.#unrecorded.delete(notification)
      return this.isHeld(message) && this.#held.delete(message.id) ? [message.id] : []
    })
  }

  /** Spread, so that they do not all come back at once. */
  async #giveBack(messages: Iterable<HeldMessage>): Promise<void> {
    await this.#holding.outbox.renew(this.#forget(messages), awayMs * (0.5 + 0.5 * Math.random()))
  }

  /** What is lost to another process meanwhile is delivered once all the same. */
  async #renew(): Promise<void> {
    const { outbox, claimMs, log } = this.#holding
    await outbox
      .renew([...this.#held.keys()], claimMs)
      .catch((error: unknown) => log.debug({ err: error }, 'claims not renewed'))
  }

  async #put(rows: readonly Delivered[]): Promise<boolean> {
    const { recording } = this.#holding
    try {
      await Promise.all(rows.map(this.#rows.write))
      recording.worked()
      this.#isAway = false
    } catch (error) {
      recording.failed(error)
      this.#isAway = true
    }
    return !this.#isAway
  }

  async #recordAgain(): Promise<void> {
    const { clock, retry, log } = this.#holding
    const some = [...this.#unrecorded].slice(0, recordedAtOnce)
    if (some.length === 0) return
    const isPut = await this.#put(some.map(([, row]) => row))
    const isOver = ({ sinceMs }: Notification) => ageMs(clock, sinceMs) >= retry.lifeMs.others
    // The record is for people: what decides is in the store, and no outbox may fill because of it.
    const over = some.flatMap(([notification]) => (isPut || isOver(notification) ? [notification] : []))
    await this.ended(over, []).catch((error: unknown) => log.debug({ err: error }, 'messages not acknowledged'))
  }
}

const within = async (ms: number, work: Promise<boolean>): Promise<boolean> => {
  const { promise: late, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(false), ms)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
