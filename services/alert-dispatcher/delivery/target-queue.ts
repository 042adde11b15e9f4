import type { Notice, Queued } from '../notice.ts'
import type { TargetLimits } from '../channels/channel.ts'
import { type GroupKeys, groupKeysOf, isUrgent, priorityOf } from './priority.ts'

/** A message that waits in this process for its target. */
export interface Waiting {
  queued: Queued
  /** It was handed over before, so its target may have it already. */
  isRepeated: boolean
  group: GroupKeys | undefined
}

/** The most urgent message, and those that could be sent together with it. */
export interface Batch {
  lead: Waiting
  others: readonly Waiting[]
  /** Absent where the lead stands alone. `isBacklog`: what waits would take too long one by one. */
  group: { key: string; isBacklog: boolean } | undefined
  /** Takes those of the others that nobody else has taken meanwhile. */
  claim(episodes: ReadonlySet<string>): readonly Waiting[]
}

/** What came of a batch: an end for its messages, or for how long they wait for what. A claimed message without an end waits again. */
export interface Served<T> {
  ended: ReadonlyMap<Waiting, T>
  waits?: { for: 'target' | 'rest' | 'group'; againInMs: number } | undefined
  /** The target refused the group as a whole: its messages are sent one by one for a while. */
  isGroupRefused?: boolean
}

/** Says that a message goes back to the durable queue, and for how long. */
export interface PutBack {
  againInMs: number
}

/** Messages of this process that wait for one target, the most urgent first. Disposing it puts them back. */
export interface TargetQueue<T> extends Disposable {
  readonly size: number
  /** Resolves with the end of the message, or when it is to wait in the durable queue. */
  add(queued: Queued, isRepeated: boolean): Promise<T | PutBack>
}

interface TargetQueueOptions<T> {
  limits: TargetLimits
  serve(batch: Batch): Promise<Served<T>>
  /** For how long a message has waited. */
  ageMs(queued: Queued): number
}

/** So many messages wait in memory for one target: the least urgent beyond them wait in the durable queue. */
export const maxWaiting = 500
const overflowAgainMs = 10_000
const closedAgainMs = 1_000
/** Messages that are put back together return one after the other. */
const spreadMs = 5
const longestPutBackMs = 60_000
/** So many notices are in one message at most: with all that is said of each it stays below 200 kB. */
export const maxGroup = 500
/** What would take longer than this one by one is a backlog. */
const backlogMs = 5_000
/** For so long after a target refused a group nothing is grouped for it. */
const aloneForMs = 10 * 60_000

type Entry<T> = Waiting & { resolve(end: T | PutBack): void; reject(error: unknown): void }

/** Opens the queue of one target, which serves as many batches at once as the target takes. */
export const openTargetQueue = <T>(options: TargetQueueOptions<T>): TargetQueue<T> => new OpenTargetQueue(options)

class OpenTargetQueue<T> implements TargetQueue<T> {
  readonly #options: TargetQueueOptions<T>
  readonly #waiting = new Set<Entry<T>>()
  /** By key of a group, until when nothing of it is sent. */
  readonly #pausedUntil = new Map<string, number>()
  /** Groups of which a batch asks for the right to send: until it has claimed its messages no other of them does. */
  readonly #entering = new Set<string>()
  #sending = 0
  #notBefore = 0
  #restsUntil = 0
  #putBacks = 0
  #aloneUntil = 0
  #isClosed = false
  #timer: NodeJS.Timeout | undefined

  constructor(options: TargetQueueOptions<T>) {
    this.#options = options
  }

  get size(): number {
    return this.#waiting.size + this.#sending
  }

  add(queued: Queued, isRepeated: boolean): Promise<T | PutBack> {
    const now = performance.now()
    if (this.#isClosed) return Promise.resolve({ againInMs: closedAgainMs })
    if (now < this.#restsUntil) return Promise.resolve(this.#putBackIn(this.#restsUntil - now, queued.notice))
    const { promise, resolve, reject } = Promise.withResolvers<T | PutBack>()
    this.#waiting.add({ queued, isRepeated, group: groupKeysOf(queued.notice), resolve, reject })
    // It reserves the next slot now, before another process takes it.
    if (isUrgent(queued.notice)) this.#notBefore = 0
    if (this.#waiting.size > maxWaiting) this.#putBack(this.#ranked(this.#waiting).slice(-1), overflowAgainMs)
    this.#pump()
    return promise
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#putBack(this.#waiting, closedAgainMs)
  }

  #pump(): void {
    const { limits } = this.#options
    while (this.#waiting.size > 0 && this.#sending < limits.concurrency) {
      const now = performance.now()
      if (now < this.#notBefore) return this.#wakeAt(this.#notBefore, now)
      for (const [key, until] of this.#pausedUntil) if (until <= now) this.#pausedUntil.delete(key)
      const free = this.#ranked([...this.#waiting].filter(({ group }) => !this.#isPaused(group)))
      const [lead] = free
      if (lead === undefined) {
        if (this.#pausedUntil.size > 0) this.#wakeAt(Math.min(...this.#pausedUntil.values()), now)
        return
      }
      void this.#send(lead, free.slice(1))
    }
  }

  async #send(lead: Entry<T>, free: readonly Entry<T>[]): Promise<void> {
    const { others, group } = this.#batchOf(lead, free)
    const taken = [lead]
    const entering = group === undefined ? undefined : lead.group?.any
    if (entering !== undefined) this.#entering.add(entering)
    this.#waiting.delete(lead)
    this.#sending += 1
    const hasEntered = () => {
      if (entering !== undefined && this.#entering.delete(entering)) setImmediate(() => this.#pump())
    }
    const claim = (episodes: ReadonlySet<string>) => {
      const claimed = others.filter((entry) => episodes.has(entry.queued.notice.episode) && this.#waiting.delete(entry))
      taken.push(...claimed)
      hasEntered()
      return claimed
    }
    try {
      this.#apply(taken, await this.#options.serve({ lead, others, group, claim }), group?.key)
    } catch (error) {
      lead.reject(error)
      for (const entry of taken.slice(1)) this.#waiting.add(entry)
    }
    hasEntered()
    this.#sending -= 1
    if (this.#isClosed) this.#putBack(this.#waiting, closedAgainMs)
    this.#pump()
  }

  #apply(taken: readonly Entry<T>[], { ended, waits, isGroupRefused }: Served<T>, key: string | undefined): void {
    const now = performance.now()
    if (isGroupRefused) this.#aloneUntil = now + aloneForMs
    for (const entry of taken) {
      const end = ended.get(entry)
      if (end === undefined) this.#waiting.add(entry)
      else entry.resolve(end)
    }
    if (waits === undefined) return
    const until = now + waits.againInMs
    if (waits.for === 'group' && key !== undefined) this.#pausedUntil.set(key, until)
    if (waits.for === 'target') this.#notBefore = until
    if (waits.for !== 'rest') return
    this.#restsUntil = until
    this.#putBacks = 0
    this.#putBack(this.#waiting, waits.againInMs)
  }

  /** Those of the same rule may go with the lead; where too many rules wait, those of all rules. */
  #batchOf(lead: Entry<T>, free: readonly Entry<T>[]): Pick<Batch, 'group'> & { others: readonly Entry<T>[] } {
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

  #ranked(entries: Iterable<Entry<T>>): Entry<T>[] {
    const aged = [...entries].map((entry) => {
      const waitedMs = this.#options.ageMs(entry.queued)
      return { entry, waitedMs, priority: priorityOf(entry.queued.notice, waitedMs) }
    })
    const ranked = aged.toSorted((one, other) => one.priority - other.priority || other.waitedMs - one.waitedMs)
    return ranked.map(({ entry }) => entry)
  }

  #putBack(entries: Iterable<Entry<T>>, inMs: number): void {
    for (const entry of entries) {
      this.#waiting.delete(entry)
      entry.resolve(this.#putBackIn(inMs, entry.queued.notice))
    }
  }

  /** Urgent messages return at once when the wait is over, however many others return one after the other. */
  #putBackIn(inMs: number, notice: Notice): PutBack {
    const againInMs = Math.ceil(Math.min(inMs, longestPutBackMs)) + 1
    if (isUrgent(notice)) return { againInMs }
    this.#putBacks += 1
    return { againInMs: againInMs + (this.#putBacks % maxSpread) * spreadMs }
  }

  #wakeAt(at: number, now: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#pump(), Math.max(1, Math.ceil(at - now)))
  }
}

/** The last of them returns half a minute after the first. */
const maxSpread = 6_000

/** So many messages of one channel wait in memory over all its targets, and so many more urgent ones. */
const maxWaitingOfChannel = 3_000
const maxUrgentOfChannel = 3_500
const maxQueues = 1_000

/** The queues of all targets of one channel. */
export const openTargetQueues = <T>(options: TargetQueueOptions<T>): Omit<TargetQueue<T>, 'size'> => {
  const queues = new Map<string, TargetQueue<T>>()
  const queueOf = (target: string) => {
    const known = queues.get(target)
    if (known) return known
    for (const [name, queue] of queues) if (queues.size >= maxQueues && queue.size === 0) queues.delete(name)
    const queue = openTargetQueue(options)
    queues.set(target, queue)
    return queue
  }
  return {
    add(queued, isRepeated) {
      let size = 0
      for (const queue of queues.values()) size += queue.size
      const max = isUrgent(queued.notice) ? maxUrgentOfChannel : maxWaitingOfChannel
      if (size >= max) return Promise.resolve({ againInMs: overflowAgainMs })
      return queueOf(queued.target).add(queued, isRepeated)
    },
    [Symbol.dispose]() {
      for (const queue of queues.values()) queue[Symbol.dispose]()
    },
  }
}
