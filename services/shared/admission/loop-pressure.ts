import { type EventLoopUtilization, monitorEventLoopDelay, performance } from 'node:perf_hooks'

const resolutionMs = 10
const tickMs = 100
/** Utilization above which the event loop has no spare capacity. */
const busyShare = 0.95
/** Mean timer delay above which a busy loop is under pressure, because work waits for the CPU. */
const maxDelayMs = 15
/**
 * Time under pressure after which the loop counts as overloaded; longer than the burst of requests of one page view.
 */
const overloadedAfterMs = 1_000
/** Maximum duration counted for one measurement, so that a single long task does not count as an overload. */
const maxTickMs = 300

/** One measurement of the event loop. */
export interface LoopMeasurement {
  /** Whether work waits for the CPU. */
  isPressed: boolean
  /** Utilization of the loop, from 0 to 1. */
  busyShare: number
}

/** The load of the event loop of this process. */
export interface LoopPressure extends Disposable {
  /** Whether the loop was under pressure for a second and has not recovered since. */
  readonly isOverloaded: boolean
  /** Calls the listener with each measurement, every 100 ms. */
  onMeasured(listener: (measured: LoopMeasurement) => void): void
  /** Resolves when the loop is no longer overloaded, after `maxMs` at the latest; never rejects. */
  relieved(maxMs: number): Promise<void>
}

/** Measures the event loop until disposed. */
export const openLoopPressure = (): LoopPressure => {
  const measuring = openLoopMeter()
  const listeners = new Set<(measured: LoopMeasurement) => void>()
  const waiting = new Set<() => void>()
  let pressedMs = 0
  let isOverloaded = false

  const tick = (): void => {
    const { tookMs, ...measured } = measuring.take()
    // `pressedMs` falls twice as fast as it rises, so that recovery is quick but needs more than one measurement.
    pressedMs += measured.isPressed ? tookMs : -2 * tookMs
    pressedMs = Math.min(Math.max(0, pressedMs), overloadedAfterMs)
    if (pressedMs === overloadedAfterMs) isOverloaded = true
    if (pressedMs === 0) isOverloaded = false
    if (!isOverloaded) for (const resume of waiting) resume()
    for (const listener of listeners) listener(measured)
  }
  const timer = setInterval(tick, tickMs)
  timer.unref()
  return {
    get isOverloaded() {
      return isOverloaded
    },
    onMeasured: (listener) => void listeners.add(listener),
    relieved: (maxMs) => (isOverloaded ? waitForCallback(waiting, maxMs) : Promise.resolve()),
    [Symbol.dispose]() {
      clearInterval(timer)
      measuring.end()
      for (const resume of waiting) resume()
    },
  }
}

/** Adds a callback to `waiting`; resolves when it is called, after `maxMs` at the latest. */
const waitForCallback = async (waiting: Set<() => void>, maxMs: number): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timeout = setTimeout(resolve, maxMs)
  waiting.add(resolve)
  await promise
  waiting.delete(resolve)
  clearTimeout(timeout)
}

const openLoopMeter = () => {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()
  let before: EventLoopUtilization = performance.eventLoopUtilization()
  let beforeMs = performance.now()
  return {
    /** Returns the measurement since the last call, and its length. */
    take(): LoopMeasurement & { tookMs: number } {
      const now = performance.eventLoopUtilization()
      const { utilization } = performance.eventLoopUtilization(now, before)
      before = now
      const tookMs = Math.min(performance.now() - beforeMs, maxTickMs)
      beforeMs = performance.now()
      const delayMs = delay.count === 0 ? 0 : delay.mean / 1_000_000 - resolutionMs
      delay.reset()
      return { isPressed: utilization > busyShare && delayMs > maxDelayMs, busyShare: utilization, tookMs }
    },
    end: () => void delay.disable(),
  }
}
