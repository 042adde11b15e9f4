import type { LoopPressure } from '#shared/admission/loop-pressure.ts'
import { openLoopSlots } from '#shared/admission/loop-slots.ts'
import {
  type AdmissionQueue,
  type AdmissionOptions,
  isBackground,
  openAdmissionQueue,
} from '#shared/admission/queue.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import { metrics } from '#shared/telemetry/metrics.ts'
import type { RequestPriority } from '#proto/call.ts'
import { type MonitoredHost, toTelemetryName } from '../hosts/host-list.ts'

/** Maximum number of statements that wait for one host. */
export const maxWaitingStatements = 50
/**
 * Maximum number of statements of tools that wait for one host. Each agent waits for its own, so this bounds the number
 * of agents and not the load.
 */
const maxWaitingTools = 500
/** Maximum time that a statement waits for its slot, in milliseconds. */
export const maxSlotWaitMs = 2_000
/** Maximum number of concurrent report statements per host, within the slots of callers. */
export const maxReportStatements = 3
/** Maximum number of concurrent sweep statements per host. Their slots are separate: alerts do not wait for users. */
export const maxSweepStatements = 3
/** Maximum number of statements that wait for this process while it is overloaded. */
const maxWaitingInProcess = 1_024
/** After this time, a statement releases its process slot: it waits for its host and uses little CPU time here. */
const maxHoldMs = 5_000
/** Maximum pause of a background statement while this process is overloaded; sweeps slow down but do not stop. */
const maxPauseMs = 2_000

/** A request for a slot of a host. */
export interface SlotRequest {
  priority: RequestPriority
  /** Maximum number of concurrent statements of callers and reports on the host. */
  size: number
  signal: AbortSignal
  /** How long the caller waits for the result. */
  timeoutMs: number
  /** How long the statement waits for a slot. Default: `maxSlotWaitMs`. */
  maxWaitMs?: number | undefined
  /** The identity of the caller: callers with the same priority are served in rotation. */
  caller?: string | undefined
}

/** Two queues per host: one for callers and reports, one for sweeps. The first also needs a slot of the process. */
export interface HostQueues {
  /** Waits for a slot and returns the function that releases it. */
  enter(host: MonitoredHost, request: SlotRequest): Promise<() => void>
}

export const openHostQueues = (telemetry: Telemetry, pressure?: LoopPressure): HostQueues => {
  const queues = new Map<string, QueuePair>()
  // Host labels in the metrics. A label remains after its queue is removed. All user connections share one label.
  const names = new Set<string>()
  const read = (count: 'running' | 'waiting') => () => {
    const open = [...queues.values()].map(({ name, callers, sweeps }) => ({
      labels: { host: name },
      value: callers[count] + sweeps[count],
    }))
    return [...Array.from(names, (host) => ({ labels: { host }, value: 0 })), ...open]
  }
  metrics.statementsRunning(telemetry.metrics, read('running'))
  metrics.statementsWaiting(telemetry.metrics, read('waiting'))

  const queuesOf = (host: MonitoredHost): QueuePair => {
    const known = queues.get(host.key)
    if (known) return known
    // User connections come and go, so their idle queues are removed.
    const onIdle = (): void => {
      if (host.connect && callers.running + sweeps.running === 0) queues.delete(host.key)
    }
    const [callers, sweeps] = [openHostQueue(host.name, onIdle), openHostQueue(host.name, onIdle)]
    const opened = { name: toTelemetryName(host), callers, sweeps }
    names.add(opened.name)
    queues.set(host.key, opened)
    return opened
  }

  const enterProcess = pressure && openProcessQueue(pressure)
  return {
    async enter(host, request) {
      const { priority, size, signal } = request
      const options = toEnterOptions(request)
      if (pressure && isBackground(priority)) await pressure.relieved(maxPauseMs)
      const { callers, sweeps } = queuesOf(host)
      // Sweeps have their own queue, where all statements have the same priority.
      if (priority === 'sweep') return sweeps.enter('person', maxSweepStatements, signal, options)
      // The host comes first, so that a statement that waits for a slow host blocks no process slot.
      const leaveHost = await callers.enter(priority, size, signal, options)
      try {
        const leaveProcess = await enterProcess?.(request)
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

const toEnterOptions = ({ timeoutMs, maxWaitMs, caller }: SlotRequest): AdmissionOptions => ({
  patienceMs: timeoutMs,
  ...(maxWaitMs !== undefined && { maxWaitMs }),
  ...(caller !== undefined && { caller }),
})

/** Opens a queue that limits the statements to all hosts together while the event loop is overloaded. */
const openProcessQueue = (pressure: LoopPressure) => {
  const refusal = 'the query service is overloaded: too many statements are waiting for its event loop'
  const queue = openAdmissionQueue({ refusal, maxWaiting: maxWaitingInProcess, maxWaitMs: maxSlotWaitMs })
  const slots = openLoopSlots(queue, pressure)
  return async (request: SlotRequest): Promise<() => void> => {
    const { priority, signal } = request
    let leave = queue.tryEnter(priority, slots.count)
    if (!leave) {
      slots.isWanted = true
      leave = await queue.enter(priority, slots.count, signal, toEnterOptions(request))
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
    maxWaiting: maxWaitingStatements,
    maxWaitingTools,
    maxWaitMs: maxSlotWaitMs,
    maxBackground: maxReportStatements,
    onIdle,
  })

interface QueuePair {
  /** The host label in telemetry. */
  name: string
  callers: AdmissionQueue
  sweeps: AdmissionQueue
}
