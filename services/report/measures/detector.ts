import { z } from 'zod'
import { type InsightRow, type InsightRowSet, insightRowSets } from '#proto/insight-rows.ts'
import type { Insight } from '#proto/insights.ts'
import type { Store } from '#shared/store/store.ts'

/** What a detector says of one subject; all else of an insight is known to whoever runs it. */
export interface Sight extends Pick<
  Insight,
  'subject' | 'severity' | 'title' | 'detail' | 'baseline' | 'value' | 'unit' | 'score' | 'confidence'
> {
  /** Where it is another than the detector's. */
  window?: string
  /** Parameters of the page behind `link`. */
  show?: Readonly<Record<string, string>>
}

/** What was seen, and what could not be told and why, in words. */
export interface Outcome {
  sights: Sight[]
  notes: string[]
}

/** Every set of rows that a detector named. */
export type RowsOf<S extends InsightRowSet> = { readonly [N in S]: readonly InsightRow<N>[] }

/** A host as it is compared with others; null where it is not known. */
export interface HostFacts {
  name: string
  group: string | null
  version: string | null
  /** Its clock minus ours. */
  clockSkewMs: number | null
  figures: HostFigures | null
}

/** A host and the others of the list. */
export interface Fleet {
  self: HostFacts
  peers: readonly HostFacts[]
}

interface Detector<S extends InsightRowSet = InsightRowSet> {
  /** File name, and what its insights are called. */
  kind: string
  signal: string
  window: string
  /** Sets that it looks at; the statement of the first is the evidence. */
  sets: readonly S[]
  /** Page that shows more. */
  link: string
  /** The evidence, of a detector without sets. */
  evidenceSql?: string
  /** A pure function of the rows, and of what is known about the hosts. */
  detect(rows: RowsOf<S>, fleet: Fleet): Outcome
}

/** A detector as the list of all holds it, which checks rows itself. */
export interface AnyDetector extends Omit<Detector, 'detect'> {
  look(rows: Readonly<Partial<Record<InsightRowSet, readonly unknown[]>>>, fleet: Fleet): Outcome
}

/** Makes a detector part of the list of all. */
export const detector = <S extends InsightRowSet>({ detect, ...traits }: Detector<S>): AnyDetector => ({
  ...traits,
  look: (rows, fleet) => {
    const checked = traits.sets.map((set) => [set, z.array(insightRowSets[set]).parse(rows[set] ?? [])])
    // Each set named by the detector stands under its name, checked against its own schema.
    return detect(Object.fromEntries(checked) as RowsOf<S>, fleet)
  },
})

/** Nothing to see. */
export const nothing: Outcome = { sights: [], notes: [] }

/** Nothing can be told, for this reason. */
export const untold = (reason: string): Outcome => ({ sights: [], notes: [reason] })

/** A table as people write it. */
export const nameOf = ({ database, table }: { database: string; table: string }): string => `${database}.${table}`

/** Where a value begins to be an insight of each severity. */
type Limits = Partial<Record<Insight['severity'], number>>

const worstFirst = ['critical', 'warning', 'info'] as const

/** The worst severity whose limit a value reaches; undefined when it reaches none. */
export const severityOf = (value: number, limits: Limits): Insight['severity'] | undefined =>
  worstFirst.find((severity) => value >= (limits[severity] ?? Number.POSITIVE_INFINITY))

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
