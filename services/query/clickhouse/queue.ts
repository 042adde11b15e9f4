import type { Priority } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'

/** Statements that may wait for one host. */
export const maxWaiting = 50
/** How long a statement waits for its turn. */
export const maxWaitMs = 2_000
/** Statements at once that nobody waits for in person. With the probe's, which needs no turn, a host has four of them. */
export const maxBackground = 3
const retryAfterMs = 1_000
const order: readonly Priority[] = ['person', 'sweep', 'report']

/** Whether nobody waits in person; such statements yield to those of people, here and on the host. */
export const isBackground = (priority: Priority): boolean => priority !== 'person'

/**
 * Turns on one host: so many at once, few of them in the background, the others in a short line where people go before
 * sweeps and sweeps before reports.
 */
export interface HostQueue {
  /** Resolves with what gives the turn back; `busy` when the line is full or the wait too long. */
  enter(priority: Priority, size: number, signal: AbortSignal): Promise<() => void>
  readonly running: number
  readonly waiting: number
}

interface Waiter {
  priority: Priority
  admit(): void
  refuse(error: unknown): void
}

/** `idle` is called whenever nobody is in it any more. */
export const openQueue = (hostName: string, idle?: () => void): HostQueue => {
  const lines = new Map<Priority, Set<Waiter>>(order.map((priority) => [priority, new Set()]))
  let running = 0
  let background = 0
  let size = 1

  const isFree = (priority: Priority): boolean =>
    running < size && (!isBackground(priority) || background < backgroundTurns(size))
  const take = (priority: Priority): void => {
    running++
    if (isBackground(priority)) background++
  }
  const leave = (priority: Priority): void => {
    running--
    if (isBackground(priority)) background--
    for (let next = firstWaiter(lines, isFree); next; next = firstWaiter(lines, isFree)) {
      take(next.priority)
      next.admit()
    }
    if (running === 0) idle?.()
  }

  return {
    get running() {
      return running
    },
    get waiting() {
      return countOf(lines)
    },
    async enter(priority, currentSize, signal) {
      if (signal.aborted) {
        if (running === 0) idle?.()
        throw signal.reason
      }
      size = currentSize
      if (isFree(priority)) take(priority)
      else await wait(lines, priority, signal, hostName)
      return once(() => leave(priority))
    },
  }
}

/** However few turns there are, one of several is left to people. */
const backgroundTurns = (size: number): number => Math.min(maxBackground, Math.max(1, size - 1))

const wait = (
  lines: Map<Priority, Set<Waiter>>,
  priority: Priority,
  signal: AbortSignal,
  hostName: string,
): Promise<void> => {
  if (countOf(lines) >= maxWaiting && !makeRoom(lines, priority, hostName)) throw busy(hostName)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const line = lines.get(priority)
  const waiter: Waiter = { priority, admit: () => settle(resolve), refuse: (error) => settle(() => reject(error)) }
  const timer = setTimeout(() => waiter.refuse(busy(hostName)), maxWaitMs)
  const onAbort = (): void => waiter.refuse(signal.reason)
  const settle = (outcome: () => void): void => {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
    line?.delete(waiter)
    outcome()
  }
  signal.addEventListener('abort', onAbort, { once: true })
  line?.add(waiter)
  return promise
}

/** Sends the newest of the least urgent away when that makes room for somebody more urgent. */
const makeRoom = (lines: Map<Priority, Set<Waiter>>, priority: Priority, hostName: string): boolean => {
  const lessUrgent = order.slice(order.indexOf(priority) + 1).toReversed()
  const line = lessUrgent.map((each) => lines.get(each)).find((each) => each !== undefined && each.size > 0)
  const last = line && [...line].at(-1)
  last?.refuse(busy(hostName))
  return last !== undefined
}

const firstWaiter = (
  lines: Map<Priority, Set<Waiter>>,
  isFree: (priority: Priority) => boolean,
): Waiter | undefined => {
  for (const priority of order) {
    if (!isFree(priority)) continue
    for (const waiter of lines.get(priority) ?? []) return waiter
  }
  return undefined
}

const countOf = (lines: Map<Priority, Set<Waiter>>): number => {
  let count = 0
  for (const line of lines.values()) count += line.size
  return count
}

const busy = (hostName: string): ServiceError =>
  new ServiceError('busy', `host ${hostName} has too many statements waiting; try again shortly`, {
    details: { host: hostName },
    retryAfterMs,
  })

const once = (action: () => void): (() => void) => {
  let done = false
  return () => {
    if (done) return
    done = true
    action()
  }
}
