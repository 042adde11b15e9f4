import { z } from 'zod'
import { type InsightRow, type InsightRowSet, insightRowSets } from '#proto/insight-rows.ts'
import type { Insight } from '#proto/insights.ts'
import type { Store } from '#shared/store/store.ts'

/** The fields of an insight that a detector returns. The scan adds the other fields. */
export interface Observation extends Pick<
  Insight,
  'subject' | 'severity' | 'title' | 'baseline' | 'value' | 'unit' | 'score' | 'confidence'
> {
  /**
   * A text, or a function that returns it. The function is for texts with ages: it calls `when` with the seconds from the
   * scan to an instant, negative for the past. The age is computed whenever the text is shown.
   */
  detail: string | ((when: (seconds: number) => string) => string)
  /** If set, replaces the window of the detector. */
  window?: string
  /** Query parameters of `link`. */
  show?: Readonly<Record<string, string>>
}

/** The observations of a detector, and notes that explain missing data. */
export interface DetectorOutcome {
  observations: Observation[]
  notes: string[]
}

/** The rows of each row set that a detector reads. */
export type DetectorRows<S extends InsightRowSet> = { readonly [N in S]: readonly InsightRow<N>[] }

/** The facts by which hosts are compared. Unknown facts are null. */
export interface HostFacts {
  name: string
  group: string | null
  version: string | null
  /** The clock of the host minus the clock of this process, in milliseconds. */
  clockSkewMs: number | null
  figures: HostStatistics | null
}

/** The scanned host and all other configured hosts. */
export interface Fleet {
  self: HostFacts
  peers: readonly HostFacts[]
}

interface Detector<S extends InsightRowSet = InsightRowSet> {
  /** The kind of its insights, equal to its file name. */
  kind: string
  signal: string
  window: string
  /** Row sets that the detector reads. The statement of the first one is the evidence. */
  sets: readonly S[]
  /** The path of the page with details. */
  link: string
  /** The statement that serves as evidence, for a detector without row sets. */
  evidenceSql?: string
  /** Returns the observations. It is a pure function of the rows and the host facts. */
  detect(rows: DetectorRows<S>, fleet: Fleet): DetectorOutcome
}

/** A detector that accepts rows of any row sets and validates them. */
export interface AnyDetector extends Omit<Detector, 'detect'> {
  evaluate(rows: Readonly<Partial<Record<InsightRowSet, readonly unknown[]>>>, fleet: Fleet): DetectorOutcome
}

/** Returns a detector that validates its rows before it evaluates them. */
export const defineDetector = <S extends InsightRowSet>({ detect, ...traits }: Detector<S>): AnyDetector => ({
  ...traits,
  evaluate: (rows, fleet) => {
    const checked = traits.sets.map((set) => [set, z.array(insightRowSets[set]).parse(rows[set] ?? [])])
    // The cast is safe: the object has each row set of the detector, validated against its schema.
    return detect(Object.fromEntries(checked) as DetectorRows<S>, fleet)
  },
})

/** The outcome without observations or notes. */
export const emptyOutcome: DetectorOutcome = { observations: [], notes: [] }

/** Returns an outcome whose only note is the reason for missing data. */
export const createNoDataOutcome = (reason: string): DetectorOutcome => ({ observations: [], notes: [reason] })

/** Returns `database.table` for display, without quotes. */
export const formatTableName = ({ database, table }: { database: string; table: string }): string =>
  `${database}.${table}`

/** The minimum value of each severity. */
type Limits = Partial<Record<Insight['severity'], number>>

const worstFirst = ['critical', 'warning', 'info'] as const

/** Returns the worst severity whose limit a value reaches; undefined if it reaches none. */
export const getSeverity = (value: number, limits: Limits): Insight['severity'] | undefined =>
  worstFirst.find((severity) => value >= (limits[severity] ?? Number.POSITIVE_INFINITY))

/** Statistics of one query pattern on a host over the last day. */
const PatternFacts = z.object({
  hash: z.string(),
  calls: z.number(),
  p95Ms: z.number(),
  readRows: z.number().nullable(),
  selectedParts: z.number().nullable(),
  marksShare: z.number().nullable(),
})
export type PatternFacts = z.infer<typeof PatternFacts>

/** The statistics of a host by which the hosts of a group are compared. */
export const HostStatistics = z.object({
  /** Statistics of the most expensive query patterns. */
  patterns: z.array(PatternFacts),
  /** Hashes of the settings that differ from their defaults, by name; null if the host does not report them. */
  settings: z.record(z.string(), z.string()).nullable(),
})
export type HostStatistics = z.infer<typeof HostStatistics>

const createFiguresKey = (hostKey: string): string => `insights/figures/${hostKey}`
/** Retention of stored statistics, in milliseconds. Hosts are only compared with hosts scanned within this time. */
const figuresTtlMs = 24 * 3_600_000

/** Computes the statistics of a host from its rows. */
export const collectHostStatistics = (
  days: readonly InsightRow<'fingerprint-days'>[],
  settings: readonly InsightRow<'settings'>[] | undefined,
): HostStatistics => ({
  patterns: days.flatMap(({ hash, daysAgo, calls, p95Ms, readRows, selectedParts, marksShare }) =>
    daysAgo === 0 && p95Ms !== null ? { hash, calls, p95Ms, readRows, selectedParts, marksShare } : [],
  ),
  settings: settings ? Object.fromEntries(settings.map(({ name, valueHash }) => [name, valueHash])) : null,
})

/** Stores the statistics of a host, so that later scans of other hosts can compare with them. */
export const storeHostStatistics = async (store: Store, hostKey: string, figures: HostStatistics): Promise<void> => {
  await store.update(createFiguresKey(hostKey), HostStatistics, () => ({ value: figures, expiresInMs: figuresTtlMs }))
}

/** Returns the stored statistics of a host; undefined if it was not scanned recently. */
export const readHostStatistics = (store: Store, hostKey: string): Promise<HostStatistics | undefined> =>
  store.get(createFiguresKey(hostKey), HostStatistics)
