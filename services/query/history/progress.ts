import { hash } from 'node:crypto'
import { z } from 'zod'
import type { Store } from '#shared/store/store.ts'
import { metrics } from '#shared/telemetry/metrics.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { HostProgress, RecorderDeps } from './record-host.ts'

/**
 * Hosts are divided into this number of slots. A process records a slot while it holds the lease of that slot, so that
 * all processes share the work without knowing of each other.
 */
const slotCount = 64

/** How far the hosts of a slot are recorded, for all processes. */
const SlotState = z.object({
  hosts: z.record(z.string(), z.object({ until: z.number(), now: z.number(), atMs: z.number() })),
})

const slotKey = (slot: number): string => `history/slot/${slot}`

/** Returns the slot of a host. */
const slotOf = (hostKey: string): number => Number.parseInt(hash('sha256', hostKey).slice(0, 8), 16) % slotCount

/** Returns how many seconds of the logs of a host are not recorded; undefined if it was never recorded. */
export const readSecondsBehind = async (store: Store, hostKey: string, nowMs: number): Promise<number | undefined> => {
  const state = (await store.get(slotKey(slotOf(hostKey)), SlotState))?.hosts[hostKey]
  return state && secondsBehind(state, nowMs)
}

const secondsBehind = ({ until, now, atMs }: { until: number; now: number; atMs: number }, nowMs: number): number =>
  Math.max(0, Math.round(now - until + (nowMs - atMs) / 1_000))

/**
 * Stores how far the hosts of a slot are recorded, and removes hosts that are no longer in the list. A host that was
 * never recorded is behind since the first attempt.
 */
export const storeProgress = async (
  { store, clock, telemetry }: RecorderDeps,
  slot: number,
  hosts: readonly MonitoredHost[],
  progress: ReadonlyMap<string, HostProgress>,
): Promise<void> => {
  const rows = metrics.historyRows(telemetry.metrics)
  const atMs = clock.now()
  for (const recorded of progress.values()) rows.inc(recorded.rows)
  const untouched = { until: Math.floor(atMs / 1_000), now: Math.floor(atMs / 1_000), atMs }
  await store.update(slotKey(slot), SlotState, (state) => {
    const isKnown = state !== undefined && hosts.every(({ key }) => state.hosts[key] !== undefined)
    if (progress.size === 0 && isKnown) return undefined
    const entries = hosts.map(({ key }) => {
      const recorded = progress.get(key)
      return [key, recorded ? { until: recorded.until, now: recorded.now, atMs } : (state?.hosts[key] ?? untouched)]
    })
    return { value: { hosts: Object.fromEntries(entries) } }
  })
}

/** Exports how far each host is behind. Every process reads the states that all processes store. */
export const exportBehind = ({ store, hosts, clock, telemetry }: RecorderDeps): { refresh(): Promise<void> } => {
  let states = new Map<string, { until: number; now: number; atMs: number }>()
  metrics.historyBehind(telemetry.metrics, () =>
    hosts.list().flatMap(({ key, name }) => {
      const state = states.get(key)
      return state ? [{ labels: { host: name }, value: secondsBehind(state, clock.now()) }] : []
    }),
  )
  return {
    async refresh() {
      const slots = [...groupBySlot(hosts.list()).keys()]
      const stored = await store.getAll(slots.map(slotKey), SlotState)
      states = new Map(stored.flatMap((state) => Object.entries(state?.hosts ?? {})))
    },
  }
}

/** Groups hosts by their slot. */
export const groupBySlot = (hosts: readonly MonitoredHost[]): Map<number, MonitoredHost[]> =>
  Map.groupBy(hosts, ({ key }) => slotOf(key))
