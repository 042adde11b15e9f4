import type { LoopMeasurement, LoopPressure } from './loop-pressure.ts'
import type { AdmissionQueue } from './queue.ts'

/** Work done at once while the loop is overloaded: at least so much, since some of it waits for hosts. */
const minSlots = 4
/** A loop that is busy for less than this share of the time can do more; one that is busy for more, as much with less at once. */
const idleBelow = 0.93
const busyAbove = 0.97
/** How the slots change with each measurement: of a loop with idle time, of a busy one, and of one whose work is late too. */
const growFactor = 1.15
const trimFactor = 0.95
const shrinkFactor = 0.8
/** Slots are not limited any more once no work had to wait for so long. */
const calmMs = 2_000

/** How much work is done at once. */
export interface LoopSlots {
  /** Infinity while the loop is not overloaded. */
  readonly count: number
  /** Set when work found no slot. */
  isWanted: boolean
}

/**
 * Any number of slots in `queue`, until the loop is overloaded; then as few as keep it busy. Fewer would leave it idle, and with more
 * all work would be late: what is done in a second stays the same.
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
