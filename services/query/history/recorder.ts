import { ServiceError } from '#proto/errors.ts'
import { acquireRenewedLease } from '#shared/store/renewed-lease.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { openPressureSampler } from './pressure.ts'
import { exportBehind, groupBySlot, storeProgress } from './progress.ts'
import { createRecorderCall, recordHost, type HostProgress, type RecorderDeps } from './record-host.ts'
import { readWatermarks } from './watermarks.ts'

const tickMs = 5_000
/** Pause of a slot after it was recorded. */
const pauseMs = 50_000
/** Pause of a slot that another process records, or that failed. */
const retryMs = 15_000
/** Maximum number of slots, and of hosts of a slot, that a process records at the same time. */
const maxConcurrent = 4
/** Maximum number of batches that a slot catches up while it is leased. */
const maxRounds = 6

/** Records all hosts of the host list until it is disposed. Does nothing without a history store. */
export const openRecorder = (deps: RecorderDeps): AsyncDisposable => {
  if (!deps.history.isEnabled) return { [Symbol.asyncDispose]: async () => undefined }
  const { clock, telemetry } = deps
  const stopping = new AbortController()
  const dueMs = new Map<number, number>()
  const behind = exportBehind(deps)
  const pressure = openPressureSampler(deps, stopping.signal)
  /** The slots that are being recorded. A slot with a slow host does not delay the others. */
  const running = new Map<number, Promise<void>>()

  const record = async (slot: number, hosts: readonly MonitoredHost[]): Promise<void> => {
    const isRecorded = await recordSlot(deps, slot, hosts, stopping.signal).catch((error: unknown) => {
      if (!(error instanceof ServiceError) && !stopping.signal.aborted)
        telemetry.log.error({ err: error }, 'recording history failed')
      return false
    })
    dueMs.set(slot, clock.elapsedMs() + (isRecorded ? pauseMs : retryMs))
    running.delete(slot)
    startDueSlots()
  }
  const startDueSlots = (): void => {
    const now = clock.elapsedMs()
    const isDue = (slot: number) => (dueMs.get(slot) ?? 0) <= now && !running.has(slot)
    const due = shuffle([...groupBySlot(deps.hosts.list())].filter(([slot]) => isDue(slot)))
    const free = stopping.signal.aborted ? 0 : maxConcurrent - running.size
    for (const [slot, hosts] of due.slice(0, free)) running.set(slot, record(slot, hosts))
  }
  const timer = setInterval(() => {
    startDueSlots()
    behind
      .refresh()
      .catch((error: unknown) => telemetry.log.warn({ err: error }, 'reading the progress of the history failed'))
  }, tickMs)
  timer.unref()
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      stopping.abort(new ServiceError('unavailable', 'the process is stopping'))
      await Promise.all([...running.values(), pressure[Symbol.asyncDispose]()])
    },
  }
}

/** Records the hosts of a slot. Returns false if another process holds its lease. */
export const recordSlot = async (
  deps: RecorderDeps,
  slot: number,
  hosts: readonly MonitoredHost[],
  stop: AbortSignal,
): Promise<boolean> => {
  await using lease = await acquireRenewedLease(deps.store, `history:slot:${slot}`, stop)
  if (!lease) return false
  let left = hosts.filter(({ key }) => deps.probe.known(key).state.status !== 'down')
  for (let round = 0; round < maxRounds && left.length > 0; round++) {
    // Watermarks are read before every batch: a request of an earlier holder may have been stored since.
    const keys = left.map(({ key }) => key)
    const marks = await readWatermarks(deps.history, keys).catch(async (error: unknown) => {
      await storeProgress(deps, slot, hosts, new Map())
      throw error
    })
    const progress = new Map<string, HostProgress>()
    await forEachConcurrently(left, async (host) => {
      const recorded = await recordSafely(deps, host, () =>
        recordHost(deps, host, marks, createRecorderCall(deps, lease.signal)),
      )
      if (recorded) progress.set(host.key, recorded)
    })
    await storeProgress(deps, slot, hosts, progress)
    left = left.filter(({ key }) => progress.get(key)?.isBehind)
  }
  return true
}

/** Returns undefined if the host failed. A failure of the history store is thrown, because it concerns all hosts. */
const recordSafely = async <T>(
  { telemetry, history }: RecorderDeps,
  host: MonitoredHost,
  record: () => Promise<T>,
): Promise<T | undefined> => {
  try {
    return await record()
  } catch (error) {
    if (!(error instanceof ServiceError) || history.problem !== undefined) throw error
    telemetry.log.debug({ host: host.name, code: error.code, reason: error.message }, 'recording a host failed')
    return undefined
  }
}

/** Returns the items in random order, so that processes do not compete for the same slots. */
const shuffle = <T>(items: readonly T[]): T[] =>
  items
    .map((item) => ({ item, order: Math.random() }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ item }) => item)

const forEachConcurrently = async <T>(items: readonly T[], each: (item: T) => Promise<void>): Promise<void> => {
  // All workers take items from the same iterator.
  const queue = items.values()
  const work = async (): Promise<void> => {
    for (const item of queue) await each(item)
  }
  await Promise.all(Array.from({ length: maxConcurrent }, work))
}
