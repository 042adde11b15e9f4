import type { LoopMeasurement, LoopPressure } from './loop-pressure.ts'
import type { AdmissionQueue } from './queue.ts'

/** Minimum slots of an overloaded loop. More than one, because some work waits for hosts instead of the CPU. */
const minSlots = 4
/**
 * Utilization below which the number of slots grows. Above `busyAbove` it shrinks, because fewer slots achieve the same
 * throughput.
 */
const idleBelow = 0.93
const busyAbove = 0.97
/**
 * Factors per measurement for the number of slots: if the loop has idle time, if it is busy, and if it is under
 * pressure.
 */
const growFactor = 1.15
const trimFactor = 0.95
const shrinkFactor = 0.8
/** The limit is removed when no work has had to wait for a slot for this long. */
const unlimitedAfterMs = 2_000

/** The current limit of concurrent work, which depends on the load of the event loop. */
export interface LoopSlots {
  /** Infinity while the loop is not overloaded. */
  readonly count: number
  /** Set to true when work finds no free slot; each measurement resets it. */
  isWanted: boolean
}

/**
 * Adjusts the slots of `queue` to the event loop. There is no limit until the loop is overloaded. Then it allows as few
 * slots as keep the loop busy: fewer would leave it idle, more would only delay all work at the same throughput.
 */
export const openLoopSlots = (queue: AdmissionQueue, pressure: LoopPressure): LoopSlots => {
  let wantedMs = 0
  const slots = { count: Infinity, isWanted: false }
  const resize = ({ isPressed, busyShare }: LoopMeasurement): void => {
    const isWanted = slots.isWanted || queue.waiting > 0
    if (isWanted) wantedMs = performance.now()
    slots.isWanted = false
    if (slots.count === Infinity) {
      if (pressure.isOverloaded) slots.count = Math.max(minSlots, Math.ceil(queue.running * shrinkFactor))
      return
    }
    if (isPressed) slots.count = Math.max(minSlots, Math.floor(slots.count * shrinkFactor))
    else if (performance.now() - wantedMs > unlimitedAfterMs && !pressure.isOverloaded) slots.count = Infinity
    else if (busyShare > busyAbove) slots.count = Math.max(minSlots, Math.floor(slots.count * trimFactor))
    else if (busyShare < idleBelow && isWanted) slots.count = Math.ceil(slots.count * growFactor)
    queue.resize(slots.count)
  }
  pressure.onMeasured(resize)
  return slots
}
