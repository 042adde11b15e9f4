import { type EventLoopUtilization, monitorEventLoopDelay, performance } from 'node:perf_hooks'

const resolutionMs = 10
const tickMs = 100
/** A loop that is busy for this share of the time has nothing left to give. */
const busyShare = 0.95
/** Timers that are later than this say that work waits for the processor, not for hosts. */
const maxDelayMs = 15
/** How long a loop is pressed until it counts as overloaded: a page that loads is a burst. */
const overloadedAfterMs = 1_000
/** One tick counts for this much at most, so that one long piece of work is no overload. */
const maxTickMs = 300

/** What one measurement found. */
export interface LoopMeasurement {
  /** Whether work waits for the processor. */
  isPressed: boolean
  /** Share of the time in which the loop had work. */
  busyShare: number
}

/** How busy the event loop of this process is. */
export interface LoopPressure extends Disposable {
  /** Whether the loop has been pressed for a second, and was not relieved since. */
  readonly isOverloaded: boolean
  /** Calls back with each measurement, every 100 ms. */
  onMeasured(listener: (measured: LoopMeasurement) => void): void
  /** Resolves once the loop is not overloaded any more, at the latest after `maxMs`; never rejects. */
  relieved(maxMs: number): Promise<void>
}

/** Measures the event loop until disposed. */
export const openLoopPressure = (): LoopPressure => {
  const measuring = openMeasuring()
  const listeners = new Set<(measured: LoopMeasurement) => void>()
  const waiting = new Set<() => void>()
  let pressedMs = 0
  let isOverloaded = false

  const tick = (): void => {
    const { tookMs, ...measured } = measuring.take()
    // Falls twice as fast as it rises: relief shows soon, and one quiet tick among pressed ones is none.
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
    relieved: (maxMs) => (isOverloaded ? waitAmong(waiting, maxMs) : Promise.resolve()),
    [Symbol.dispose]() {
      clearInterval(timer)
      measuring.end()
      for (const resume of waiting) resume()
    },
  }
}

/** Resolves when its entry of `waiting` is called, at the latest after `maxMs`. */
const waitAmong = async (waiting: Set<() => void>, maxMs: number): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timeout = setTimeout(resolve, maxMs)
  waiting.add(resolve)
  await promise
  waiting.delete(resolve)
  clearTimeout(timeout)
}

const openMeasuring = () => {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()
  let before: EventLoopUtilization = performance.eventLoopUtilization()
  let beforeMs = performance.now()
  return {
    /** What happened since the last time, and how long that was. */
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
