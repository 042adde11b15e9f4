import type { Priority } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { openWaitEstimate, type WaitEstimate } from './wait-estimate.ts'

/** The least and the most that a refused caller has to wait before it may try again. */
const retryAfterMs = { min: 1_000, max: 30_000 }
const order: readonly Priority[] = ['person', 'sweep', 'report']

/** Whether no person waits for the result; such work yields to that of people, here and on the host. */
export const isBackground = (priority: Priority): boolean => priority !== 'person'

/** What a queue protects, and how long work may wait for it. */
export interface QueueOptions {
  /** First words of a refusal: `host db has too many statements waiting`. */
  refusal: string
  details?: Readonly<Record<string, string>>
  maxWaiting: number
  /** Work that is expected to wait longer is refused when it comes. */
  maxWaitMs: number
  /** Slots that background work may have at once. Default: all but one. */
  maxBackground?: number
  /** Called whenever no slot is taken any more. */
  onIdle?: (() => void) | undefined
  /** A monotonic clock, in milliseconds. */
  nowMs?: () => number
}

/** Slots for work. Work that finds none waits; people are admitted before sweeps, and sweeps before reports. */
export interface AdmissionQueue {
  /** Takes a free slot at once and returns what gives it back; undefined where work has to wait. */
  tryEnter(priority: Priority, size: number): (() => void) | undefined
  /**
   * Resolves with what gives the slot back. Throws `busy` with the time to wait when too much work waits, when this work would
   * wait longer than it may, when it could not end within `patienceMs` then, or when it has waited too long.
   */
  enter(priority: Priority, size: number, signal: AbortSignal, patienceMs?: number): Promise<() => void>
  /**
   * Refuses work that `enter` would refuse now, and returns the time to wait in milliseconds; undefined where it may enter. It costs
   * less than a thrown error, which matters where most work is refused.
   */
  refusedForMs(priority: Priority, size: number, patienceMs?: number): number | undefined
  /** Admits waiting work after the number of slots grew. */
  resize(size: number): void
  readonly running: number
  readonly waiting: number
}

interface Waiter {
  priority: Priority
  admit(): void
  refuse(error: unknown): void
}

type Lines = ReadonlyMap<Priority, Set<Waiter>>

/** Opens a queue; `size` of each call says how many slots there are at that moment. */
export const openAdmissionQueue = (options: QueueOptions): AdmissionQueue => {
  const { maxWaitMs, onIdle, nowMs = () => performance.now() } = options
  const lines: Lines = new Map<Priority, Set<Waiter>>(order.map((priority) => [priority, new Set()]))
  const estimate = openWaitEstimate(maxWaitMs, nowMs)
  const slots = openSlots(options.maxBackground, (heldMs) => {
    estimate.held(heldMs)
    admitWaiting()
    if (slots.running === 0) onIdle?.()
  })
  const admitWaiting = (): void => {
    for (let next = firstWaiter(lines, slots.isFree); next; next = firstWaiter(lines, slots.isFree)) next.admit()
    estimate.observe(countOf(lines))
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
      return countOf(lines)
    },
    tryEnter,
    async enter(priority, size, signal, patienceMs = Infinity) {
      if (signal.aborted) {
        if (slots.running === 0) onIdle?.()
        throw signal.reason
      }
      const entered = tryEnter(priority, size)
      return entered ?? (await wait({ lines, estimate, options, take }, { priority, size, signal, patienceMs }))
    },
    refusedForMs(priority, size, patienceMs = Infinity) {
      if (slots.isFree(priority)) return undefined
      const expectedMs = estimate.expectedMs(countBefore(lines, priority), size)
      if (expectedMs <= estimate.allowedMs(patienceMs)) return undefined
      estimate.refused()
      return retryAfter(expectedMs)
    },
    resize(size) {
      slots.size = size
      admitWaiting()
    },
  }
}

/** Slots that are taken; `onLeft` hears for how long each was held. */
const openSlots = (maxBackground = Infinity, onLeft: (heldMs: number) => void) => {
  let background = 0
  const slots = {
    size: 1,
    running: 0,
    isFree: (priority: Priority): boolean =>
      slots.running < slots.size &&
      (!isBackground(priority) || background < backgroundSlots(slots.size, maxBackground)),
    take: (priority: Priority, nowMs: () => number): (() => void) => {
      const takenMs = nowMs()
      slots.running++
      if (isBackground(priority)) background++
      return once(() => {
        slots.running--
        if (isBackground(priority)) background--
        onLeft(nowMs() - takenMs)
      })
    },
  }
  return slots
}

/** However few slots there are, one of several is left to people. */
const backgroundSlots = (size: number, most: number): number => Math.min(most, Math.max(1, size - 1))

interface Waiting {
  lines: Lines
  estimate: WaitEstimate
  options: QueueOptions
  take(priority: Priority): () => void
}

interface Entering {
  priority: Priority
  size: number
  signal: AbortSignal
  patienceMs: number
}

const wait = (
  { lines, estimate, options, take }: Waiting,
  { priority, size, signal, patienceMs }: Entering,
): Promise<() => void> => {
  const expectedMs = estimate.expectedMs(countBefore(lines, priority), size)
  const isTooLong = expectedMs > estimate.allowedMs(patienceMs)
  if (isTooLong || (countOf(lines) >= options.maxWaiting && !makeRoom(lines, priority, options))) {
    estimate.refused()
    throw busy(options, expectedMs)
  }
  const { promise, resolve, reject } = Promise.withResolvers<() => void>()
  const line = lines.get(priority)
  const finish = (outcome: () => void): void => {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
    line?.delete(waiter)
    estimate.observe(countOf(lines))
    outcome()
  }
  const waiter: Waiter = {
    priority,
    admit: () => finish(() => resolve(take(priority))),
    refuse: (error) => finish(() => reject(error)),
  }
  const timer = setTimeout(() => {
    estimate.refused()
    waiter.refuse(busy(options, expectedMs))
  }, options.maxWaitMs)
  const onAbort = (): void => waiter.refuse(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  line?.add(waiter)
  estimate.observe(countOf(lines))
  return promise
}

/** Refuses the newest of the least urgent when that makes room for more urgent work. */
const makeRoom = (lines: Lines, priority: Priority, options: QueueOptions): boolean => {
  const lessUrgent = order.slice(order.indexOf(priority) + 1).toReversed()
  const line = lessUrgent.map((each) => lines.get(each)).find((each) => each !== undefined && each.size > 0)
  const last = line && [...line].at(-1)
  last?.refuse(busy(options, 0))
  return last !== undefined
}

const firstWaiter = (lines: Lines, isFree: (priority: Priority) => boolean): Waiter | undefined => {
  for (const priority of order) {
    if (!isFree(priority)) continue
    for (const waiter of lines.get(priority) ?? []) return waiter
  }
  return undefined
}

const countOf = (lines: Lines): number => {
  let count = 0
  for (const line of lines.values()) count += line.size
  return count
}

/** Work that is admitted before new work of this priority. */
const countBefore = (lines: Lines, priority: Priority): number => {
  let count = 0
  for (const each of order.slice(0, order.indexOf(priority) + 1)) count += lines.get(each)?.size ?? 0
  return count
}

const busy = ({ refusal, details }: QueueOptions, expectedMs: number): ServiceError =>
  new ServiceError('busy', `${refusal}; try again shortly`, {
    ...(details && { details }),
    retryAfterMs: retryAfter(expectedMs),
  })

const retryAfter = (expectedMs: number): number => Math.min(Math.max(expectedMs, retryAfterMs.min), retryAfterMs.max)

const once = (action: () => void): (() => void) => {
  let done = false
  return () => {
    if (done) return
    done = true
    action()
  }
}
