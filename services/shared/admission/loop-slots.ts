import type { LoopMeasurement, LoopPressure } from './loop-pressure.ts'
import type { AdmissionQueue } from './queue.ts'

/** Minimum slots of an overloaded loop; more than one, because some work waits for hosts. */
const minSlots = 4
/** Below this busy share the number of slots grows; above it, fewer slots achieve the same throughput. */
const idleBelow = 0.93
const busyAbove = 0.97
/** Factors per measurement: for a loop with idle time, for a busy one, and for one whose timers are late too. */
const growFactor = 1.15
const trimFactor = 0.95
const shrinkFactor = 0.8
/** The limit is lifted after no work had to wait for this long. */
const calmMs = 2_000

/** The current limit of concurrent work. */
export interface LoopSlots {
  /** Infinity while the loop is not overloaded. */
  readonly count: number
  /** Set when work found no free slot. */
  isWanted: boolean
}

/**
 * Does not limit `queue` until the loop is overloaded; then allows as few slots as keep it busy. Fewer would leave it idle; more would only delay all work at the same throughput.
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
    else if (performance.now() - wantedMs > calmMs && !pressure.isOverloaded) slots.count = Infinity
    else if (busyShare > busyAbove) slots.count = Math.max(minSlots, Math.floor(slots.count * trimFactor))
    else if (busyShare < idleBelow && isWanted) slots.count = Math.ceil(slots.count * growFactor)
    queue.resize(slots.count)
  }
  pressure.onMeasured(resize)
  return slots
}
