import { z } from 'zod'
import type { Store } from '#shared/store/store.ts'
import { ignoreUnavailable } from '#shared/bus/failure.ts'

/** Limits of the stored samples: days for each disk, and disks for each host. */
export const maxSampleDays = 30
export const maxSampledDisks = 32
/** The state of a host that is no longer swept expires after this time. */
const retentionMs = maxSampleDays * 86_400_000

/** State of a host from earlier sweeps, for rules that compare against it. */
export const SweepState = z.object({
  /** Consecutive sweeps in which the host did not respond. */
  unanswered: z.number().int().default(0),
  /** When the host first responded to a sweep, by its own clock. */
  firstMetMs: z.number().nullable().default(null),
  /** Server starts since `firstMetMs`, as epoch milliseconds. */
  startsMs: z.array(z.number()).default([]),
  version: z.string().nullable().default(null),
  versionChangedMs: z.number().nullable().default(null),
  /** A hash of all settings that differ from their defaults. Their values are not stored. */
  settingsHash: z.string().nullable().default(null),
  settingsChangedMs: z.number().nullable().default(null),
  /** Bytes used on each disk at the first sweep of each day. `day` counts days since 1970-01-01. */
  disks: z.record(z.string(), z.array(z.object({ day: z.number(), used: z.number() })).max(maxSampleDays)).default({}),
  /** Progress of each mirror's initial snapshot, and the time of its last change. */
  copies: z.record(z.string(), z.object({ done: z.number(), sinceMs: z.number() })).default({}),
  /** Counters of the host's Keeper node. */
  keeper: z.record(z.string(), z.number()).default({}),
})
export type SweepState = z.infer<typeof SweepState>

export interface SweepStateDeps {
  store: Store
}

type EarlierStore = Pick<Store, 'get' | 'update'>

const keyOf = (hostKey: string): string => `query:rules:${hostKey}`

/** Returns the state of earlier sweeps, or undefined while the store is unavailable, so that other rules continue. */
export const readSweepState = (store: EarlierStore, hostKey: string): Promise<SweepState | undefined> =>
  ignoreUnavailable(async () => (await store.get(keyOf(hostKey), SweepState)) ?? SweepState.parse({}))

/** Saves changed fields. When the write fails, the next sweep detects the change again. */
export const saveSweepState = async (
  store: EarlierStore,
  hostKey: string,
  changes: Partial<SweepState>,
): Promise<void> => {
  if (Object.keys(changes).length === 0) return
  await ignoreUnavailable(() =>
    store.update(keyOf(hostKey), SweepState, (current) => ({
      value: { ...(current ?? SweepState.parse({})), ...changes },
      expiresInMs: retentionMs,
    })),
  )
}
