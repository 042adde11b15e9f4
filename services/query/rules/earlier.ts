import { z } from 'zod'
import type { Store } from '#shared/store/store.ts'
import { whenAvailable } from '#shared/bus/when-available.ts'

/** Days of one disk's samples, and disks of one host, that are kept. */
export const maxDays = 30
export const maxDisks = 32
/** Of a host that is no longer swept nothing stays. */
const keptMs = maxDays * 86_400_000

/** What earlier sweeps found of a host, for rules that compare with it. */
export const Earlier = z.object({
  /** Sweeps in a row that it did not answer. */
  unanswered: z.number().int().default(0),
  /** By the clock of the host, when it answered a sweep for the first time. */
  firstMetMs: z.number().nullable().default(null),
  /** When the server was started again since then, as epoch milliseconds, each start once. */
  startsMs: z.array(z.number()).default([]),
  version: z.string().nullable().default(null),
  versionChangedMs: z.number().nullable().default(null),
  /** Over all settings that differ from their defaults; their values are kept nowhere. */
  settingsHash: z.string().nullable().default(null),
  settingsChangedMs: z.number().nullable().default(null),
  /** Bytes used of each disk at the first sweep of a day; instants in days since 1970. */
  disks: z.record(z.string(), z.array(z.object({ day: z.number(), used: z.number() })).max(maxDays)).default({}),
  /** Of mirrors that copy what is there: how far each was, and since when. */
  copies: z.record(z.string(), z.object({ done: z.number(), sinceMs: z.number() })).default({}),
  /** What the Keeper node beside it has counted. */
  keeper: z.record(z.string(), z.number()).default({}),
})
export type Earlier = z.infer<typeof Earlier>

/** What handlers work with that compare with earlier sweeps. */
export interface WithStore {
  store: Store
}

type Kept = Pick<Store, 'get' | 'update'>

const keyOf = (hostKey: string): string => `query:rules:${hostKey}`

/** Undefined while the store does not answer, so that rules which need none of it go on. */
export const readEarlier = (store: Kept, hostKey: string): Promise<Earlier | undefined> =>
  whenAvailable(async () => (await store.get(keyOf(hostKey), Earlier)) ?? Earlier.parse({}))

/** Keeps what changed. What cannot be written is found again by the next sweep. */
export const keepEarlier = async (store: Kept, hostKey: string, changes: Partial<Earlier>): Promise<void> => {
  if (Object.keys(changes).length === 0) return
  await whenAvailable(() =>
    store.update(keyOf(hostKey), Earlier, (current) => ({
      value: { ...(current ?? Earlier.parse({})), ...changes },
      expiresInMs: keptMs,
    })),
  )
}
