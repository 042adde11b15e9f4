import { z } from 'zod'
import type { InsightRow } from '#proto/insight-rows.ts'
import type { Store } from '#shared/store/store.ts'

/** How one pattern ran on a host on the last day. */
const PatternFacts = z.object({
  hash: z.string(),
  calls: z.number(),
  p95Ms: z.number(),
  readRows: z.number().nullable(),
  selectedParts: z.number().nullable(),
  marksShare: z.number().nullable(),
})
export type PatternFacts = z.infer<typeof PatternFacts>

/** What hosts of one group are compared by. */
export const HostFigures = z.object({
  /** The costliest patterns. */
  patterns: z.array(PatternFacts),
  /** Hashes of what is not at its default, by name; null where the host does not tell. */
  settings: z.record(z.string(), z.string()).nullable(),
})
export type HostFigures = z.infer<typeof HostFigures>

const keyOf = (hostKey: string): string => `insights/figures/${hostKey}`
/** A host that was not looked at for longer is compared with nobody. */
const keptMs = 24 * 3_600_000

/** What of its rows a host is compared by. */
export const figuresOf = (
  days: readonly InsightRow<'fingerprint-days'>[],
  settings: readonly InsightRow<'settings'>[] | undefined,
): HostFigures => ({
  patterns: days.flatMap(({ hash, daysAgo, calls, p95Ms, readRows, selectedParts, marksShare }) =>
    daysAgo === 0 && p95Ms !== null ? { hash, calls, p95Ms, readRows, selectedParts, marksShare } : [],
  ),
  settings: settings ? Object.fromEntries(settings.map(({ name, valueHash }) => [name, valueHash])) : null,
})

/** Leaves them for when the others of the group are looked at, so that nobody asks a host twice. */
export const leaveFigures = async (store: Store, hostKey: string, figures: HostFigures): Promise<void> => {
  await store.update(keyOf(hostKey), HostFigures, () => ({ value: figures, expiresInMs: keptMs }))
}

/** What was left of a host; undefined of one that was not looked at lately. */
export const readFigures = (store: Store, hostKey: string): Promise<HostFigures | undefined> =>
  store.get(keyOf(hostKey), HostFigures)
