import type { Priority } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { openWaitEstimate, type WaitEstimate } from './wait-estimate.ts'

/** Minimum and maximum retry delay for a rejected caller. */
const retryAfterBoundsMs = { min: 1_000, max: 30_000 }
const priorityOrder: readonly Priority[] = ['person', 'sweep', 'report']

/**
 * Returns whether no user waits for the result. Background work yields to requests of users, both in this queue and on
 * the host.
 */
export const isBackground = (priority: Priority): boolean => priority !== 'person'

/** Options of an admission queue. */
export interface QueueOptions {
  /** Beginning of the error message: `host db has too many statements waiting`. */
  refusal: string
  details?: Readonly<Record<string, string>>
  maxWaiting: number
  /** Work with a longer expected wait is rejected on arrival. */
  maxWaitMs: number
  /** Maximum slots of background work. Default: all but one. */
  maxBackground?: number
  /** Called when no slot is in use any more. */
  onIdle?: (() => void) | undefined
  /** A monotonic clock, in milliseconds. */
  nowMs?: () => number
}

/** Limits concurrent work. Work without a slot waits: users first, then sweeps, then reports. */
export interface AdmissionQueue {
  /** Takes a free slot and returns the function that releases it; undefined if none is free. */
  tryEnter(priority: Priority, size: number): (() => void) | undefined
  /**
   * Waits for a slot and returns the function that releases it. Throws `busy` with a retry delay if the queue is full,
   * if the expected wait is too long, if the work could not end within `patienceMs`, or after waiting for `maxWaitMs`.
   */
  enter(priority: Priority, size: number, signal: AbortSignal, patienceMs?: number): Promise<() => void>
  /**
   * Returns the retry delay in milliseconds if `enter` would reject the work now; undefined otherwise. Cheaper than a
   * thrown error, which matters when most work is rejected.
   */
  refusedForMs(priority: Priority, size: number, patienceMs?: number): number | undefined
  /** Admits waiting work after the number of slots has grown. */
  resize(size: number): void
  readonly running: number
  readonly waiting: number
}

interface Waiter {
  priority: Priority
  admit(): void
  refuse(error: unknown): void
}

type WaitingLines = ReadonlyMap<Priority, Set<Waiter>>

/** Creates an admission queue. The `size` argument of its methods is the current number of slots. */
export const openAdmissionQueue = (options: QueueOptions): AdmissionQueue => {
  const { maxWaitMs, onIdle, nowMs = () => performance.now() } = options
  const lines: WaitingLines = new Map<Priority, Set<Waiter>>(priorityOrder.map((priority) => [priority, new Set()]))
  const estimate = openWaitEstimate(maxWaitMs, nowMs)
  const slots = openSlots(options.maxBackground, (heldMs) => {
    estimate.held(heldMs)
    admitWaiting()
    if (slots.running === 0) onIdle?.()
  })
  const admitWaiting = (): void => {
    for (let next = findFirstWaiter(lines, slots.isFree); next; next = findFirstWaiter(lines, slots.isFree))
      next.admit()
    estimate.observe(countWaiting(lines))
  }
  const take = (priority: Priority): (() => void) => slots.take(priority, nowMs)
  const tryEnter = (priority: Priority, size: number) => {
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
    async enter(priority, size, signal, patienceMs = Infinity) {
      if (signal.aborted) {
        if (slots.running === 0) onIdle?.()
        throw signal.reason
      }
      const entered = tryEnter(priority, size)
      return entered ?? (await waitForSlot({ lines, estimate, options, take }, { priority, size, signal, patienceMs }))
    },
    refusedForMs(priority, size, patienceMs = Infinity) {
      if (slots.isFree(priority)) return undefined
      const expectedMs = estimate.expectedMs(countBefore(lines, priority), size)
      if (expectedMs <= estimate.allowedMs(patienceMs)) return undefined
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
    isFree: (priority: Priority): boolean =>
      slots.running < slots.size &&
      (!isBackground(priority) || background < computeBackgroundSlots(slots.size, maxBackground)),
    take: (priority: Priority, nowMs: () => number): (() => void) => {
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

/** Returns the maximum slots of background work. With several slots, one is reserved for users. */
const computeBackgroundSlots = (size: number, most: number): number => Math.min(most, Math.max(1, size - 1))

interface WaitContext {
  lines: WaitingLines
  estimate: WaitEstimate
  options: QueueOptions
  take(priority: Priority): () => void
}

interface EntryRequest {
  priority: Priority
  size: number
  signal: AbortSignal
  patienceMs: number
}

const waitForSlot = (
  { lines, estimate, options, take }: WaitContext,
  { priority, size, signal, patienceMs }: EntryRequest,
): Promise<() => void> => {
  const expectedMs = estimate.expectedMs(countBefore(lines, priority), size)
  const isTooLong = expectedMs > estimate.allowedMs(patienceMs)
  if (isTooLong || (countWaiting(lines) >= options.maxWaiting && !makeRoom(lines, priority, options))) {
    estimate.refused()
    throw createBusyError(options, expectedMs)
  }
  const { promise, resolve, reject } = Promise.withResolvers<() => void>()
  const line = lines.get(priority)
  const finish = (outcome: () => void): void => {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
    line?.delete(waiter)
    estimate.observe(countWaiting(lines))
    outcome()
  }
  const waiter: Waiter = {
    priority,
    admit: () => finish(() => resolve(take(priority))),
    refuse: (error) => finish(() => reject(error)),
  }
  const timer = setTimeout(() => {
    estimate.refused()
    waiter.refuse(createBusyError(options, expectedMs))
  }, options.maxWaitMs)
  const onAbort = (): void => waiter.refuse(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  line?.add(waiter)
  estimate.observe(countWaiting(lines))
  return promise
}

/**
 * Makes room by rejecting the newest waiting item of the lowest priority below `priority`. Returns whether there was
 * one.
 */
const makeRoom = (lines: WaitingLines, priority: Priority, options: QueueOptions): boolean => {
  const lessUrgent = priorityOrder.slice(priorityOrder.indexOf(priority) + 1).toReversed()
  const line = lessUrgent.map((each) => lines.get(each)).find((each) => each !== undefined && each.size > 0)
  const last = line && [...line].at(-1)
  last?.refuse(createBusyError(options, 0))
  return last !== undefined
}

const findFirstWaiter = (lines: WaitingLines, isFree: (priority: Priority) => boolean): Waiter | undefined => {
  for (const priority of priorityOrder) {
    if (!isFree(priority)) continue
    for (const waiter of lines.get(priority) ?? []) return waiter
  }
  return undefined
}

const countWaiting = (lines: WaitingLines): number => {
  let count = 0
  for (const line of lines.values()) count += line.size
  return count
}

/** Returns the number of waiting items that are admitted before new work of this priority. */
const countBefore = (lines: WaitingLines, priority: Priority): number => {
  let count = 0
  for (const each of priorityOrder.slice(0, priorityOrder.indexOf(priority) + 1)) count += lines.get(each)?.size ?? 0
  return count
}

const createBusyError = ({ refusal, details }: QueueOptions, expectedMs: number): ServiceError =>
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
