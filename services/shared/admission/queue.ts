import { RequestPriority } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { type FairQueue, createFairQueue } from './fair-queue.ts'
import { openWaitEstimate, type WaitEstimate } from './wait-estimate.ts'

/** Minimum and maximum retry delay for a rejected caller. */
const retryAfterBoundsMs = { min: 1_000, max: 30_000 }
const priorityOrder: readonly RequestPriority[] = RequestPriority.options

/** Returns whether work runs in the background. It yields to requests of users and tools, here and on the host. */
export const isBackground = (priority: RequestPriority): boolean => priority === 'sweep' || priority === 'report'

/** Options of an admission queue. */
export interface AdmissionQueueOptions {
  /** Beginning of the error message: `host db has too many statements waiting`. */
  refusal: string
  details?: Readonly<Record<string, string>>
  maxWaiting: number
  /** Maximum number of waiting items of tools, which then do not count towards `maxWaiting`. Default: they count. */
  maxWaitingTools?: number
  /** Work with a longer expected wait is rejected on arrival. */
  maxWaitMs: number
  /** Maximum slots of background work. Default: all but one. */
  maxBackground?: number
  /** Called when no slot is in use any more. */
  onIdle?: (() => void) | undefined
  /** A monotonic clock, in milliseconds. */
  nowMs?: () => number
}

/** Options of work that enters a queue. */
export interface AdmissionOptions {
  /** The work must end within this time. Default: no limit. */
  patienceMs?: number
  /** Replaces the `maxWaitMs` of the queue for this work. */
  maxWaitMs?: number
  /** Callers with the same priority are served in rotation. Default: all work belongs to one caller. */
  caller?: string
}

/** Limits concurrent work. Work without a slot waits: users first, then tools, sweeps and reports. */
export interface AdmissionQueue {
  /** Takes a free slot and returns the function that releases it; undefined if none is free. */
  tryEnter(priority: RequestPriority, size: number): (() => void) | undefined
  /**
   * Waits for a slot and returns the function that releases it. Throws `busy` with a retry delay if the queue is full
   * or the expected wait is too long. Also throws it if the work could not end within `patienceMs`, or after a wait of
   * `maxWaitMs`.
   */
  enter(priority: RequestPriority, size: number, signal: AbortSignal, options?: AdmissionOptions): Promise<() => void>
  /**
   * Returns the retry delay in milliseconds if `enter` would reject the work now; undefined otherwise. Cheaper than a
   * thrown error, which matters when most work is rejected.
   */
  refusedForMs(priority: RequestPriority, size: number, patienceMs?: number): number | undefined
  /** Admits waiting work after the number of slots has grown. */
  resize(size: number): void
  readonly running: number
  readonly waiting: number
}

interface Waiter {
  admit(): void
  refuse(error: unknown): void
}

type WaitingLines = ReadonlyMap<RequestPriority, FairQueue<Waiter>>

/** Creates an admission queue. The `size` argument of its methods is the current number of slots. */
export const openAdmissionQueue = (options: AdmissionQueueOptions): AdmissionQueue => {
  const { onIdle, nowMs = () => performance.now() } = options
  const lines: WaitingLines = new Map(priorityOrder.map((priority) => [priority, createFairQueue<Waiter>()]))
  const estimate = openWaitEstimate(nowMs)
  const slots = openSlots(options.maxBackground, (heldMs) => {
    estimate.held(heldMs)
    admitWaiting()
    if (slots.running === 0) onIdle?.()
  })
  const admitWaiting = (): void => {
    for (let next = findFirstWaiter(lines, slots.isFree); next; next = findFirstWaiter(lines, slots.isFree))
      next.admit()
    estimate.observe(countShed(lines))
  }
  const take = (priority: RequestPriority): (() => void) => slots.take(priority, nowMs)
  const tryEnter = (priority: RequestPriority, size: number) => {
    slots.size = size
    return slots.isFree(priority) ? take(priority) : undefined
  }
  return {
    get running() {
      return slots.running
    },
    get waiting() {
      return countWaiting(lines)
    },
    tryEnter,
    async enter(priority, size, signal, { patienceMs = Infinity, maxWaitMs = options.maxWaitMs, caller = '' } = {}) {
      if (signal.aborted) {
        if (slots.running === 0) onIdle?.()
        throw signal.reason
      }
      const entered = tryEnter(priority, size)
      const entering = { priority, size, signal, patienceMs, maxWaitMs, caller }
      return entered ?? (await waitForSlot({ lines, estimate, options, take }, entering))
    },
    refusedForMs(priority, size, patienceMs = Infinity) {
      if (slots.isFree(priority)) return undefined
      const expectedMs = estimate.expectedMs(countBefore(lines, priority, ''), size)
      if (expectedMs <= allowedMs(estimate, { priority, patienceMs, maxWaitMs: options.maxWaitMs })) return undefined
      estimate.refused()
      return computeRetryAfterMs(expectedMs)
    },
    resize(size) {
      slots.size = size
      admitWaiting()
    },
  }
}

/** Creates the counter of slots in use. `onLeft` receives the time that each slot was held. */
const openSlots = (maxBackground = Infinity, onLeft: (heldMs: number) => void) => {
  let background = 0
  const slots = {
    size: 1,
    running: 0,
    isFree: (priority: RequestPriority): boolean => {
      if (slots.running >= slots.size) return false
      if (priority === 'tool') return slots.running < withoutReserved(slots.size)
      return !isBackground(priority) || background < Math.min(maxBackground, withoutReserved(slots.size))
    },
    take: (priority: RequestPriority, nowMs: () => number): (() => void) => {
      const takenMs = nowMs()
      slots.running++
      if (isBackground(priority)) background++
      return runOnce(() => {
        slots.running--
        if (isBackground(priority)) background--
        onLeft(nowMs() - takenMs)
      })
    },
  }
  return slots
}

/** Returns the number of slots without the one reserved for users. A single slot is not reserved. */
const withoutReserved = (size: number): number => Math.max(1, size - 1)

/**
 * Returns how long new work may wait, in milliseconds. Tools wait during overload too: an agent sends its next request
 * after the response, so its requests do not pile up.
 */
const allowedMs = (
  estimate: WaitEstimate,
  { priority, patienceMs, maxWaitMs }: Pick<EntryRequest, 'priority' | 'patienceMs' | 'maxWaitMs'>,
): number => estimate.allowedMs(maxWaitMs, patienceMs, priority !== 'tool')

interface WaitContext {
  lines: WaitingLines
  estimate: WaitEstimate
  options: AdmissionQueueOptions
  take(priority: RequestPriority): () => void
}

interface EntryRequest extends Required<AdmissionOptions> {
  priority: RequestPriority
  size: number
  signal: AbortSignal
}

const waitForSlot = ({ lines, estimate, options, take }: WaitContext, entering: EntryRequest): Promise<() => void> => {
  const { priority, size, signal, maxWaitMs, caller } = entering
  const expectedMs = estimate.expectedMs(countBefore(lines, priority, caller), size)
  const isTooLong = expectedMs > allowedMs(estimate, entering)
  if (isTooLong || (isFull(lines, priority, options) && !makeRoom(lines, priority, options))) {
    estimate.refused()
    throw createBusyError(options, expectedMs)
  }
  const { promise, resolve, reject } = Promise.withResolvers<() => void>()
  const line = lines.get(priority)
  const finish = (isServed: boolean, complete: () => void): void => {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
    line?.remove(caller, waiter, isServed)
    estimate.observe(countShed(lines))
    complete()
  }
  const waiter: Waiter = {
    admit: () => finish(true, () => resolve(take(priority))),
    refuse: (error) => finish(false, () => reject(error)),
  }
  const timer = setTimeout(() => {
    estimate.refused()
    waiter.refuse(createBusyError(options, expectedMs))
  }, maxWaitMs)
  const onAbort = (): void => waiter.refuse(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  line?.add(caller, waiter)
  estimate.observe(countShed(lines))
  return promise
}

/** Returns whether no further item of a priority can wait. */
const isFull = (
  lines: WaitingLines,
  priority: RequestPriority,
  { maxWaiting, maxWaitingTools }: AdmissionQueueOptions,
): boolean => {
  if (maxWaitingTools === undefined) return countWaiting(lines) >= maxWaiting
  return priority === 'tool' ? (lines.get('tool')?.size ?? 0) >= maxWaitingTools : countShed(lines) >= maxWaiting
}

/**
 * Makes room by rejecting the newest waiting item of the lowest priority below `priority`. Returns whether it
 * rejected an item.
 */
const makeRoom = (lines: WaitingLines, priority: RequestPriority, options: AdmissionQueueOptions): boolean => {
  const countsTools = options.maxWaitingTools === undefined
  // A rejected item of another priority makes no room for tools with a maximum of their own.
  if (priority === 'tool' && !countsTools) return false
  const less = priorityOrder.slice(priorityOrder.indexOf(priority) + 1).toReversed()
  const lessUrgent = countsTools ? less : less.filter((each) => each !== 'tool')
  const line = lessUrgent.map((each) => lines.get(each)).find((each) => each !== undefined && each.size > 0)
  const last = line?.last
  last?.refuse(createBusyError(options, 0))
  return last !== undefined
}

const findFirstWaiter = (lines: WaitingLines, isFree: (priority: RequestPriority) => boolean): Waiter | undefined => {
  for (const priority of priorityOrder) {
    if (!isFree(priority)) continue
    const waiter = lines.get(priority)?.first
    if (waiter) return waiter
  }
  return undefined
}

const countWaiting = (lines: WaitingLines): number => {
  let count = 0
  for (const line of lines.values()) count += line.size
  return count
}

/** Returns the number of waiting items that count towards overload: all except those of tools. */
const countShed = (lines: WaitingLines): number => countWaiting(lines) - (lines.get('tool')?.size ?? 0)

/** Returns the number of waiting items that are served before new work of this caller. */
const countBefore = (lines: WaitingLines, priority: RequestPriority, caller: string): number => {
  let count = lines.get(priority)?.ahead(caller) ?? 0
  for (const each of priorityOrder.slice(0, priorityOrder.indexOf(priority))) count += lines.get(each)?.size ?? 0
  return count
}

const createBusyError = ({ refusal, details }: AdmissionQueueOptions, expectedMs: number): ServiceError =>
  new ServiceError('busy', `${refusal}; try again shortly`, {
    ...(details && { details }),
    retryAfterMs: computeRetryAfterMs(expectedMs),
  })

const computeRetryAfterMs = (expectedMs: number): number =>
  Math.min(Math.max(expectedMs, retryAfterBoundsMs.min), retryAfterBoundsMs.max)

const runOnce = (action: () => void): (() => void) => {
  let done = false
  return () => {
    if (done) return
    done = true
    action()
  }
}
