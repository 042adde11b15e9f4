import type { Logger } from 'pino'
import { type BatchWriter, createBatchWriter } from '#shared/bus/durable/batches.ts'
import type { CompletedDelivery } from '#proto/delivery.ts'
import { type Clock, computeAgeMs } from '#shared/time/clock.ts'
import type { Outbox } from '#shared/store/store.ts'
import type { DeliveryDeps, ClaimedOutboxMessage, PendingDelivery } from './delivery-deps.ts'

/** Limits for claiming outbox messages; tests shorten the time. */
export interface ClaimLimits {
  /** Maximum number of messages per claim. */
  atOnce: number
  /** After this time, another process claims the messages of a process that died. */
  claimMs: number
}

/** The outbox messages that this process holds. Claims are renewed until all deliveries of a message have ended. */
export interface ClaimedMessages extends AsyncDisposable {
  /** Adds a message; replaces one with the same id, whose deliveries stop. */
  hold(message: ClaimedOutboxMessage): void
  isHeld(message: ClaimedOutboxMessage): boolean
  /** Returns the ids of messages that can be acknowledged once the given deliveries have ended. */
  endingWith(notifications: Iterable<PendingDelivery>): string[]
  /** Removes ended deliveries and acknowledges messages without open deliveries, except those in `acked`. */
  ended(notifications: Iterable<PendingDelivery>, acked: readonly string[]): Promise<void>
  /** Records results; returns whether the database stored them in time. */
  record(rows: readonly CompletedDelivery[]): Promise<boolean>
  /** Retries recording until the delivery lifetime is over; the deliveries then end without a record. */
  recordLater(notifications: readonly PendingDelivery[], rows: readonly CompletedDelivery[]): Promise<void>
  /** Postpones a delivery. Its message can be claimed again 30 to 60 s after its other deliveries have ended. */
  postpone(delivery: PendingDelivery): Promise<void>
  /** Removes messages that are no longer in the outbox. */
  forget(messages: Iterable<ClaimedOutboxMessage>): void
}

/** Number of renewals per claim duration. */
const renewalsPerClaim = 3
/** Maximum time before a postponed message is claimed again; the minimum is half of it. */
const maxPostponeMs = 60_000
/**
 * Maximum number of unrecorded results. Messages beyond it are released. When they are claimed again, the delivery
 * record shows that they were sent.
 */
const maxUnrecorded = 2_000
const maxRecordedAtOnce = 500

/** Maximum time that a send waits for the database. */
const recordTimeoutMs = 250

type ClaimDeps = Pick<DeliveryDeps, 'deliveries' | 'recording' | 'retry'> & {
  outbox: Outbox
  clock: Clock
  log: Logger
  claimMs: number
}

/** Opens an empty set of claims; disposing it releases all of them at once. */
export const openClaims = (holding: ClaimDeps): ClaimedMessages => new OpenClaims(holding)

class OpenClaims implements ClaimedMessages {
  readonly #holding: ClaimDeps
  readonly #held = new Map<string, ClaimedOutboxMessage>()
  readonly #unrecorded = new Map<PendingDelivery, CompletedDelivery>()
  readonly #timers: readonly NodeJS.Timeout[]
  /** Combines concurrent writes into batches. */
  readonly #rows: BatchWriter<CompletedDelivery>
  #isUnavailable = false
  #recording: Promise<void> | undefined

  constructor(holding: ClaimDeps) {
    const { claimMs, retry, deliveries } = holding
    this.#holding = holding
    this.#rows = createBatchWriter((rows) => deliveries.put([...new Map(rows.map((row) => [row.id, row])).values()]))
    this.#timers = [
      setInterval(() => void this.#renew(), claimMs / renewalsPerClaim).unref(),
      setInterval(() => {
        this.#recording ??= this.#recordAgain().finally(() => (this.#recording = undefined))
      }, retry.recordAgainMs).unref(),
    ]
  }

  hold(message: ClaimedOutboxMessage): void {
    this.#held.set(message.id, message)
  }

  isHeld(message: ClaimedOutboxMessage): boolean {
    return this.#held.get(message.id) === message
  }

  endingWith(notifications: Iterable<PendingDelivery>): string[] {
    const ending = new Set(notifications)
    const messages = new Set([...ending].map(({ message }) => message))
    return [...messages].flatMap(({ id, comesAgain, notifications: open }) =>
      !comesAgain && [...open].every((each) => ending.has(each)) ? [id] : [],
    )
  }

  async ended(notifications: Iterable<PendingDelivery>, acked: readonly string[]): Promise<void> {
    const messages = new Set<ClaimedOutboxMessage>()
    for (const delivery of notifications) {
      this.#unrecorded.delete(delivery)
      delivery.message.notifications.delete(delivery)
      if (delivery.message.notifications.size === 0) messages.add(delivery.message)
    }
    const again = [...messages].filter(({ comesAgain }) => comesAgain)
    if (again.length > 0) await this.#release(again)
    await this.#holding.outbox.ack(this.#forget(messages).filter((id) => !acked.includes(id)))
  }

  async record(rows: readonly CompletedDelivery[]): Promise<boolean> {
    return !this.#isUnavailable && (await resolveWithin(recordTimeoutMs, this.#put(rows)))
  }

  async recordLater(notifications: readonly PendingDelivery[], rows: readonly CompletedDelivery[]): Promise<void> {
    for (const [index, delivery] of notifications.entries()) {
      const row = rows[index]
      if (row) this.#unrecorded.set(delivery, row)
    }
    const beyond = [...this.#unrecorded.keys()].slice(0, Math.max(0, this.#unrecorded.size - maxUnrecorded))
    await this.#release(new Set(beyond.map(({ message }) => message)))
  }

  async postpone(delivery: PendingDelivery): Promise<void> {
    const { message } = delivery
    message.notifications.delete(delivery)
    message.comesAgain = true
    if (message.notifications.size === 0) await this.#release([message])
  }

  forget(messages: Iterable<ClaimedOutboxMessage>): void {
    this.#forget(messages)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await this.#recording
    await this.#recordAgain()
    // Ends the claims, so that other processes can claim the messages. If this fails, the claims expire later.
    await this.#holding.outbox.renew([...this.#held.keys()], 1).catch(() => {})
    this.#held.clear()
  }

  #forget(messages: Iterable<ClaimedOutboxMessage>): string[] {
    return [...messages].flatMap((message) => {
      for (const delivery of message.notifications) this.#unrecorded.delete(delivery)
      return this.isHeld(message) && this.#held.delete(message.id) ? [message.id] : []
    })
  }

  /** Makes messages claimable again after a random delay, so that they are not all claimed at once. */
  async #release(messages: Iterable<ClaimedOutboxMessage>): Promise<void> {
    await this.#holding.outbox.renew(this.#forget(messages), maxPostponeMs * (0.5 + 0.5 * Math.random()))
  }

  /** Renews the claims. If that fails, another process claims the messages; each is still delivered only once. */
  async #renew(): Promise<void> {
    const { outbox, claimMs, log } = this.#holding
    await outbox
      .renew([...this.#held.keys()], claimMs)
      .catch((error: unknown) => log.debug({ err: error }, 'renewing claims failed'))
  }

  async #put(rows: readonly CompletedDelivery[]): Promise<boolean> {
    const { recording } = this.#holding
    try {
      await Promise.all(rows.map(this.#rows.write))
      recording.worked()
      this.#isUnavailable = false
    } catch (error) {
      recording.failed(error)
      this.#isUnavailable = true
    }
    return !this.#isUnavailable
  }

  async #recordAgain(): Promise<void> {
    const { clock, retry, log } = this.#holding
    const some = [...this.#unrecorded].slice(0, maxRecordedAtOnce)
    if (some.length === 0) return
    const isPut = await this.#put(some.map(([, row]) => row))
    const isOver = ({ sinceMs }: PendingDelivery) => computeAgeMs(clock, sinceMs) >= retry.lifeMs.others
    // Results that cannot be recorded within the lifetime are dropped, so that their messages leave the outbox.
    const over = some.flatMap(([delivery]) => (isPut || isOver(delivery) ? [delivery] : []))
    await this.ended(over, []).catch((error: unknown) => log.debug({ err: error }, 'acknowledging messages failed'))
  }
}

const resolveWithin = async (ms: number, work: Promise<boolean>): Promise<boolean> => {
  const { promise: late, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(false), ms)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
