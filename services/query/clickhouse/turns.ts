import type { LoopPressure } from '#shared/admission/loop-pressure.ts'
import { openLoopSlots } from '#shared/admission/loop-slots.ts'
import { type AdmissionQueue, isBackground, openAdmissionQueue } from '#shared/admission/queue.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import { metrics } from '#shared/telemetry/metrics.ts'
import type { Priority } from '#proto/call.ts'
import { type MonitoredHost, telemetryName } from '../hosts/host-list.ts'

/** Statements that may wait for one host. */
export const maxWaiting = 50
/** How long a statement waits for its slot. */
export const maxWaitMs = 2_000
/** Statements of reports that one host runs at once, of those that callers may run. */
export const maxBackground = 3
/** Statements of sweeps that one host runs at once, besides those of callers: these can be many and long, and alerts must not wait. */
export const maxSweeps = 3
/** Statements that may wait for this process while it is overloaded. */
const maxWaitingHere = 1_024
/** A statement that lasts longer waits for its host; it does not keep the processor from others. */
const maxHoldMs = 5_000
/** How long a background statement makes way while this process is overloaded; sweeps slow down then, and do not stop. */
const maxPauseMs = 2_000

/** What a statement needs to enter the queue of its host. */
export interface Entrance {
  priority: Priority
  /** How many statements of callers and reports the host may run at once. */
  size: number
  signal: AbortSignal
  /** How long its caller waits for the result. */
  patienceMs: number
}

/** Two queues per host: one for callers and reports, one for sweeps. Those of callers pass one of the process besides. */
export interface Turns {
  enter(host: MonitoredHost, entrance: Entrance): Promise<() => void>
}

export const openTurns = (telemetry: Telemetry, pressure?: LoopPressure): Turns => {
  const queues = new Map<string, HostQueues>()
  // A host that was queried once keeps its figure; all user-supplied connections have one name.
  const names = new Set<string>()
  const read = (figure: 'running' | 'waiting') => () => {
    const open = [...queues.values()].map(({ name, callers, sweeps }) => ({
      labels: { host: name },
      value: callers[figure] + sweeps[figure],
    }))
    return [...Array.from(names, (host) => ({ labels: { host }, value: 0 })), ...open]
  }
  metrics.statementsRunning(telemetry.metrics, read('running'))
  metrics.statementsWaiting(telemetry.metrics, read('waiting'))

  const queuesOf = (host: MonitoredHost): HostQueues => {
    const known = queues.get(host.key)
    if (known) return known
    // User-supplied connections come and go; idle queues remember nothing.
    const onIdle = (): void => {
      if (host.connect && callers.running + sweeps.running === 0) queues.delete(host.key)
    }
    const [callers, sweeps] = [openHostQueue(host.name, onIdle), openHostQueue(host.name, onIdle)]
    const opened = { name: telemetryName(host), callers, sweeps }
    names.add(opened.name)
    queues.set(host.key, opened)
    return opened
  }

  const enterProcess = pressure && openProcessQueue(pressure)
  return {
    async enter(host, entrance) {
      const { priority, size, signal, patienceMs } = entrance
      if (pressure && isBackground(priority)) await pressure.relieved(maxPauseMs)
      const { callers, sweeps } = queuesOf(host)
      // Sweeps have their queue to themselves, so there is nobody in it to leave a slot to.
      if (priority === 'sweep') return sweeps.enter('person', maxSweeps, signal, patienceMs)
      // The host first: who waits for one host takes no slot that another could use.
      const leaveHost = await callers.enter(priority, size, signal, patienceMs)
      try {
        const leaveProcess = await enterProcess?.(entrance)
        return () => {
          leaveProcess?.()
          leaveHost()
        }
      } catch (error) {
        leaveHost()
        throw error
      }
    },
  }
}

/** While the event loop is overloaded, as few statements at once as keep it busy, whichever hosts they are for. */
const openProcessQueue = (pressure: LoopPressure) => {
  const refusal = 'this process has more statements than it can read the results of'
  const queue = openAdmissionQueue({ refusal, maxWaiting: maxWaitingHere, maxWaitMs })
  const slots = openLoopSlots(queue, pressure)
  return async ({ priority, signal, patienceMs }: Entrance): Promise<() => void> => {
    let leave = queue.tryEnter(priority, slots.count)
    if (!leave) {
      slots.isWanted = true
      leave = await queue.enter(priority, slots.count, signal, patienceMs)
    }
    const timer = setTimeout(leave, maxHoldMs).unref()
    return () => {
      clearTimeout(timer)
      leave()
    }
  }
}

const openHostQueue = (name: string, onIdle: () => void): AdmissionQueue =>
  openAdmissionQueue({
    refusal: `host ${name} has too many statements waiting`,
    details: { host: name },
    maxWaiting,
    maxWaitMs,
    maxBackground,
    onIdle,
  })

interface HostQueues {
  /** What telemetry calls the host. */
  name: string
  callers: AdmissionQueue
  sweeps: AdmissionQueue
}
