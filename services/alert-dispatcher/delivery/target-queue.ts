import type { TargetLimits } from '../channels/channel.ts'
import type { PendingDelivery } from './delivery-deps.ts'
import { type GroupKeys, getGroupKeys, isUrgent, getDeliveryPriority } from './priority.ts'

/** A delivery that waits in this process for its target. */
export interface QueuedDelivery {
  delivery: PendingDelivery
  group: GroupKeys | undefined
}

/** The most urgent delivery, and the deliveries that could be sent in the same message. */
export interface DeliveryBatch {
  lead: QueuedDelivery
  others: readonly QueuedDelivery[]
  /** Absent if the lead is sent alone. `isBacklog` means that sending one by one would take too long. */
  group: { key: string; isBacklog: boolean } | undefined
  /** Claims and returns those of the wanted deliveries that no other batch has claimed. */
  claim(wanted: ReadonlySet<QueuedDelivery>): readonly QueuedDelivery[]
}

/**
 * Result of a batch: ended deliveries, deliveries with a delay, and a delay for all. Claimed deliveries in neither list
 * are queued again at once.
 */
export interface DeliveryBatchResult {
  ended: ReadonlySet<QueuedDelivery>
  againInMs?: ReadonlyMap<QueuedDelivery, number>
  waits?: { for: 'target' | 'rest' | 'group'; againInMs: number } | undefined
  /** The target rejected the group; its notifications are sent one by one for a while. */
  isGroupRefused?: boolean
}

/** Queue of deliveries for one target, the most urgent first. Disposing it waits for sends in progress. */
export interface TargetQueue extends AsyncDisposable {
  readonly size: number
  /** Returns whether the delivery was queued. In a full queue, it replaces the least urgent one, which is postponed. */
  add(delivery: PendingDelivery): boolean
}

interface TargetQueueOptions {
  limits: TargetLimits
  serve(batch: DeliveryBatch): Promise<DeliveryBatchResult>
  nowMs(): number
  /** Returns when the delivery started to wait, in milliseconds of the same clock as `nowMs`. */
  sinceMs(delivery: PendingDelivery): number
  /** Returns whether the lifetime of a delivery is over. */
  isOver(delivery: PendingDelivery): boolean
  /** Called for a delivery that leaves the queue, because the queue is full or its lifetime is over. */
  leave(delivery: PendingDelivery, why: 'no-room' | 'over'): void
  failed(error: unknown): void
}

/** Maximum length of the queue; less urgent deliveries beyond it wait in the outbox. */
export const maxQueuedDeliveries = 500
/** Delay after an internal error. */
const errorRetryMs = 1_000
/** Interval of the lifetime check while the target pauses. */
const maxSleepMs = 60_000
/** Maximum number of notifications per message, which keeps it below 200 kB. */
export const maxGroupSize = 500
/** A queue counts as a backlog if sending its deliveries one by one would take longer than this. */
const backlogMs = 5_000
/** How long deliveries are sent one by one after a target rejected a group. */
const groupingPauseMs = 10 * 60_000

/** `position` is the order of arrival, which a delivery keeps when it is queued again. */
type Entry = QueuedDelivery & { notBefore: number; position: number }

/** Opens the queue of one target; it runs as many batches in parallel as the target allows. */
export const openTargetQueue = (options: TargetQueueOptions): TargetQueue => new OpenTargetQueue(options)

class OpenTargetQueue implements TargetQueue {
  readonly #options: TargetQueueOptions
  readonly #waiting = new Set<Entry>()
  /** When the pause of a group ends, by group key. */
  readonly #pausedUntil = new Map<string, number>()
  /** Groups that are reserving a send. No other batch of the group starts until its notifications are claimed. */
  readonly #reserving = new Set<string>()
  readonly #inProgress = new Set<Promise<void>>()
  #notBefore = 0
  #nextPosition = 0
  #restsUntil = 0
  #aloneUntil = 0
  #isClosed = false
  #timer: NodeJS.Timeout | undefined

  constructor(options: TargetQueueOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#waiting.size + this.#inProgress.size
  }

  add(delivery: PendingDelivery): boolean {
    if (this.#isClosed) return false
    const entry = {
      delivery,
      group: getGroupKeys(delivery.notification),
      notBefore: 0,
      position: this.#nextPosition++,
    }
    this.#waiting.add(entry)
    if (this.#waiting.size > maxQueuedDeliveries) {
      const [last] = this.#ranked(this.#waiting).slice(-1)
      if (last) this.#waiting.delete(last)
      if (last === entry) return false
      if (last) this.#options.leave(last.delivery, 'no-room')
    }
    // An urgent delivery does not wait, so that it reserves the next slot before another process takes it.
    if (isUrgent(delivery.notification)) this.#notBefore = 0
    this.#serveNext()
    return true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#waiting.clear()
    await Promise.all(this.#inProgress)
  }

  #serveNext(): void {
    clearTimeout(this.#timer)
    if (this.#isClosed) return
    const { limits } = this.#options
    while (this.#waiting.size > 0 && this.#inProgress.size < limits.concurrency) {
      const now = performance.now()
      const restsUntil = Math.max(this.#notBefore, this.#restsUntil)
      if (now < restsUntil) return this.#sleepUntil(restsUntil, now)
      for (const [key, until] of this.#pausedUntil) if (until <= now) this.#pausedUntil.delete(key)
      const free = this.#ranked(
        [...this.#waiting].filter(({ group, notBefore }) => notBefore <= now && !this.#isPaused(group)),
      )
      const [lead] = free
      if (lead === undefined) {
        const later = [...this.#waiting].flatMap(({ notBefore }) => (notBefore > now ? [notBefore] : []))
        const next = Math.min(...later, ...this.#pausedUntil.values())
        return Number.isFinite(next) ? this.#sleepUntil(next, now) : undefined
      }
      const send = this.#send(lead, free.slice(1)).finally(() => {
        this.#inProgress.delete(send)
        this.#serveNext()
      })
      this.#inProgress.add(send)
    }
  }

  async #send(lead: Entry, free: readonly Entry[]): Promise<void> {
    const { others, group } = this.#batchOf(lead, free)
    const taken = [lead]
    const request = group === undefined ? undefined : lead.group?.any
    if (request !== undefined) this.#reserving.add(request)
    this.#waiting.delete(lead)
    const hasEntered = () => {
      if (request !== undefined && this.#reserving.delete(request)) setImmediate(() => this.#serveNext())
    }
    const claim = (wanted: ReadonlySet<QueuedDelivery>) => {
      const claimed = others.filter((entry) => wanted.has(entry) && this.#waiting.delete(entry))
      taken.push(...claimed)
      hasEntered()
      return claimed
    }
    try {
      this.#apply(taken, await this.#options.serve({ lead, others, group, claim }), group?.key)
    } catch (error) {
      this.#options.failed(error)
      for (const entry of taken) this.#waitAgain(entry, errorRetryMs)
    }
    hasEntered()
  }

  #apply(
    taken: readonly Entry[],
    { ended, againInMs, waits, isGroupRefused }: DeliveryBatchResult,
    key: string | undefined,
  ): void {
    const now = performance.now()
    if (isGroupRefused) this.#aloneUntil = now + groupingPauseMs
    for (const entry of taken) if (!ended.has(entry)) this.#waitAgain(entry, againInMs?.get(entry) ?? 0)
    if (waits === undefined) return
    const until = now + waits.againInMs
    if (waits.for === 'group' && key !== undefined) this.#pausedUntil.set(key, until)
    if (waits.for === 'target') this.#notBefore = until
    if (waits.for === 'rest') this.#restsUntil = until
  }

  #waitAgain(entry: Entry, inMs: number): void {
    if (this.#isClosed) return
    entry.notBefore = performance.now() + inMs
    this.#waiting.add(entry)
  }

  /** Selects deliveries to group with `lead`: those of the same rule, or of all rules if too many rules wait. */
  #batchOf(lead: Entry, free: readonly Entry[]): Pick<DeliveryBatch, 'group'> & { others: readonly Entry[] } {
    const { perSecond, groupAfter } = this.#options.limits
    const alone = { others: [], group: undefined }
    if (lead.group === undefined || groupAfter === undefined || performance.now() < this.#aloneUntil) return alone
    const isBacklog = (messages: number) => (messages * 1_000) / perSecond > backlogMs
    const by = isBacklog(new Set(free.map(({ group }) => group?.alike)).size) ? 'any' : 'alike'
    const key = lead.group[by]
    const others = free.filter(({ group }) => group?.[by] === key).slice(0, maxGroupSize - 1)
    return { others, group: { key, isBacklog: isBacklog(free.length) } }
  }

  #isPaused(group: GroupKeys | undefined): boolean {
    if (group === undefined) return false
    return this.#reserving.has(group.any) || this.#pausedUntil.has(group.alike) || this.#pausedUntil.has(group.any)
  }

  #ranked(entries: Iterable<Entry>): Entry[] {
    // The clock is read once. If it advanced between two reads, a later delivery could seem older.
    const nowMs = this.#options.nowMs()
    const aged = [...entries].map((entry) => {
      const sinceMs = this.#options.sinceMs(entry.delivery)
      return { entry, sinceMs, priority: getDeliveryPriority(entry.delivery.notification, nowMs - sinceMs) }
    })
    const ranked = aged.toSorted(
      (one, other) =>
        one.priority - other.priority || one.sinceMs - other.sinceMs || one.entry.position - other.entry.position,
    )
    return ranked.map(({ entry }) => entry)
  }

  /** Waits until the given time. Deliveries whose lifetime is over leave the queue first. */
  #sleepUntil(at: number, now: number): void {
    for (const entry of this.#waiting) {
      if (!this.#options.isOver(entry.delivery)) continue
      this.#waiting.delete(entry)
      this.#options.leave(entry.delivery, 'over')
    }
    const sleepMs = Math.min(Math.max(1, Math.ceil(at - now)), maxSleepMs)
    this.#timer = setTimeout(() => this.#serveNext(), sleepMs)
  }
}

/** Maximum number of queued deliveries per channel, over all targets; urgent ones have a higher limit. */
const maxQueuedPerChannel = 3_000
const maxQueuedPerChannelWithUrgent = 3_500
const maxQueues = 1_000

/** Opens the queues of all targets of one channel. */
export const openTargetQueues = (options: TargetQueueOptions): Omit<TargetQueue, 'size'> => {
  const queues = new Map<string, TargetQueue>()
  const queueOf = (target: string) => {
    const known = queues.get(target)
    if (known) return known
    for (const [name, queue] of queues) if (queues.size >= maxQueues && queue.size === 0) queues.delete(name)
    const queue = openTargetQueue(options)
    queues.set(target, queue)
    return queue
  }
  return {
    add(delivery) {
      let size = 0
      for (const queue of queues.values()) size += queue.size
      const max = isUrgent(delivery.notification) ? maxQueuedPerChannelWithUrgent : maxQueuedPerChannel
      return size < max && queueOf(delivery.target).add(delivery)
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...queues.values()].map((queue) => queue[Symbol.asyncDispose]()))
    },
  }
}
