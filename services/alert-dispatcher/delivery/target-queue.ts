import type { TargetLimits } from '../channels/channel.ts'
import type { Notification } from './delivering.ts'
import { type GroupKeys, groupKeysOf, isUrgent, priorityOf } from './priority.ts'

/** A notification that waits in this process for its target. */
export interface Waiting {
  notification: Notification
  group: GroupKeys | undefined
}

/** The most urgent notification, and those that could be sent together with it. */
export interface Batch {
  lead: Waiting
  others: readonly Waiting[]
  /** Absent where the lead stands alone. `isBacklog`: what waits would take too long one by one. */
  group: { key: string; isBacklog: boolean } | undefined
  /** Takes those of the others that no other batch has taken meanwhile. */
  claim(wanted: ReadonlySet<Waiting>): readonly Waiting[]
}

/** What came of a batch: its notifications that have an end, those that wait for a while, and what all wait for. A claimed one that is named in neither waits again. */
export interface Served {
  ended: ReadonlySet<Waiting>
  againInMs?: ReadonlyMap<Waiting, number>
  waits?: { for: 'target' | 'rest' | 'group'; againInMs: number } | undefined
  /** The target refused the group as a whole: its notifications are sent one by one for a while. */
  isGroupRefused?: boolean
}

/** Notifications of this process that wait for one target, the most urgent first. Disposing it ends once the sends under way have ended. */
export interface TargetQueue extends AsyncDisposable {
  readonly size: number
  /** False when there is no room for it. A more urgent one takes the place of the least urgent, which is given back. */
  add(notification: Notification): boolean
}

interface TargetQueueOptions {
  limits: TargetLimits
  serve(batch: Batch): Promise<Served>
  /** For how long a notification has lived. */
  ageMs(notification: Notification): number
  /** Its life is over. */
  isOver(notification: Notification): boolean
  /** There is no room for it, or it is to end because its life is over. */
  leave(notification: Notification, why: 'no-room' | 'over'): void
  failed(error: unknown): void
}

/** So many notifications wait in memory for one target: the least urgent beyond them wait in the outbox. */
export const maxWaiting = 500
/** When what failed for a reason of ours is tried again. */
const failedAgainMs = 1_000
/** While a target rests it is looked this often whose life is over. */
const longestSleepMs = 60_000
/** So many notices are in one message at most: with all that is said of each it stays below 200 kB. */
export const maxGroup = 500
/** What would take longer than this one by one is a backlog. */
const backlogMs = 5_000
/** For so long after a target refused a group nothing is grouped for it. */
const aloneForMs = 10 * 60_000

type Entry = Waiting & { notBefore: number }

/** Opens the queue of one target, which serves as many batches at once as the target takes. */
export const openTargetQueue = (options: TargetQueueOptions): TargetQueue => new OpenTargetQueue(options)

class OpenTargetQueue implements TargetQueue {
  readonly #options: TargetQueueOptions
  readonly #waiting = new Set<Entry>()
  /** By key of a group, until when nothing of it is sent. */
  readonly #pausedUntil = new Map<string, number>()
  /** Groups of which a batch asks for the right to send: until it has claimed its notifications no other of them does. */
  readonly #entering = new Set<string>()
  readonly #sending = new Set<Promise<void>>()
  #notBefore = 0
  #restsUntil = 0
  #aloneUntil = 0
  #isClosed = false
  #timer: NodeJS.Timeout | undefined

  constructor(options: TargetQueueOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#waiting.size + this.#sending.size
  }

  add(notification: Notification): boolean {
    if (this.#isClosed) return false
    const entry = { notification, group: groupKeysOf(notification.notice), notBefore: 0 }
    this.#waiting.add(entry)
    if (this.#waiting.size > maxWaiting) {
      const [last] = this.#ranked(this.#waiting).slice(-1)
      if (last) this.#waiting.delete(last)
      if (last === entry) return false
      if (last) this.#options.leave(last.notification, 'no-room')
    }
    // It reserves the next slot now, before another process takes it.
    if (isUrgent(notification.notice)) this.#notBefore = 0
    this.#pump()
    return true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#waiting.clear()
    await Promise.all(this.#sending)
  }

  #pump(): void {
    clearTimeout(this.#timer)
    if (this.#isClosed) return
    const { limits } = this.#options
    while (this.#waiting.size > 0 && this.#sending.size < limits.concurrency) {
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
      const sending = this.#send(lead, free.slice(1)).finally(() => {
        this.#sending.delete(sending)
        this.#pump()
      })
      this.#sending.add(sending)
    }
  }

  async #send(lead: Entry, free: readonly Entry[]): Promise<void> {
    const { others, group } = this.#batchOf(lead, free)
    const taken = [lead]
    const entering = group === undefined ? undefined : lead.group?.any
    if (entering !== undefined) this.#entering.add(entering)
    this.#waiting.delete(lead)
    const hasEntered = () => {
      if (entering !== undefined && this.#entering.delete(entering)) setImmediate(() => this.#pump())
    }
    const claim = (wanted: ReadonlySet<Waiting>) => {
      const claimed = others.filter((entry) => wanted.has(entry) && this.#waiting.delete(entry))
      taken.push(...claimed)
      hasEntered()
      return claimed
    }
    try {
      this.#apply(taken, await this.#options.serve({ lead, others, group, claim }), group?.key)
    } catch (error) {
      this.#options.failed(error)
      for (const entry of taken) this.#waitAgain(entry, failedAgainMs)
    }
    hasEntered()
  }

  #apply(taken: readonly Entry[], { ended, againInMs, waits, isGroupRefused }: Served, key: string | undefined): void {
    const now = performance.now()
    if (isGroupRefused) this.#aloneUntil = now + aloneForMs
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

  /** Those of the same rule may go with the lead; where too many rules wait, those of all rules. */
  #batchOf(lead: Entry, free: readonly Entry[]): Pick<Batch, 'group'> & { others: readonly Entry[] } {
    const { perSecond, groupAfter } = this.#options.limits
    const alone = { others: [], group: undefined }
    if (lead.group === undefined || groupAfter === undefined || performance.now() < this.#aloneUntil) return alone
    const isBacklog = (messages: number) => (messages * 1_000) / perSecond > backlogMs
    const by = isBacklog(new Set(free.map(({ group }) => group?.alike)).size) ? 'any' : 'alike'
    const key = lead.group[by]
    const others = free.filter(({ group }) => group?.[by] === key).slice(0, maxGroup - 1)
    return { others, group: { key, isBacklog: isBacklog(free.length) } }
  }

  #isPaused(group: GroupKeys | undefined): boolean {
    if (group === undefined) return false
    return this.#entering.has(group.any) || this.#pausedUntil.has(group.alike) || this.#pausedUntil.has(group.any)
  }

  #ranked(entries: Iterable<Entry>): Entry[] {
    const aged = [...entries].map((entry) => {
      const waitedMs = this.#options.ageMs(entry.notification)
      return { entry, waitedMs, priority: priorityOf(entry.notification.notice, waitedMs) }
    })
    const ranked = aged.toSorted((one, other) => one.priority - other.priority || other.waitedMs - one.waitedMs)
    return ranked.map(({ entry }) => entry)
  }

  /** What would be too old by then ends now. */
  #sleepUntil(at: number, now: number): void {
    for (const entry of this.#waiting) {
      if (!this.#options.isOver(entry.notification)) continue
      this.#waiting.delete(entry)
      this.#options.leave(entry.notification, 'over')
    }
    const sleepMs = Math.min(Math.max(1, Math.ceil(at - now)), longestSleepMs)
    this.#timer = setTimeout(() => this.#pump(), sleepMs)
  }
}

/** So many notifications of one channel wait in memory over all its targets, and so many more urgent ones. */
const maxWaitingOfChannel = 3_000
const maxUrgentOfChannel = 3_500
const maxQueues = 1_000

/** The queues of all targets of one channel. */
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
    add(notification) {
      let size = 0
      for (const queue of queues.values()) size += queue.size
      const max = isUrgent(notification.notice) ? maxUrgentOfChannel : maxWaitingOfChannel
      return size < max && queueOf(notification.target).add(notification)
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...queues.values()].map((queue) => queue[Symbol.asyncDispose]()))
    },
  }
}
