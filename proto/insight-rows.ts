import { z } from 'zod'
import { rpc } from './contract.ts'
import { hostInput } from './host.ts'
import { Insight, InsightId } from './insights.ts'
import { IncompleteReason, UnavailableReason } from './unavailable-reason.ts'

/** A measured number; null if it is missing or not finite. */
export const NullableNumberColumn = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^-?\d+$/)
      .transform(Number),
  ])
  .nullable()
/** A required count or age. An age is negative if the entry is later than the current time of the host. */
export const CountColumn = z.union([
  z.number(),
  z
    .string()
    .regex(/^-?\d+$/)
    .transform(Number),
])
/** A boolean, which older hosts return as a number. */
export const FlagColumn = z.union([z.boolean(), z.number()]).transform(Boolean)
const table = { database: z.string(), table: z.string() }

/**
 * Row sets that come from the replication service, not from a host. They are returned only for the first host, and are
 * empty without such a service.
 */
export const replicationRowSets = {
  'replication-mirrors': z.object({
    mirror: z.string(),
    /** State of the mirror, one of `repldbMirrorStates`. */
    state: z.string(),
    /** Hours since the start of the initial copy; null if it is not copying. */
    copyingHours: NullableNumberColumn,
    /** Number of error lines in the last hour; null if the log cannot be read. */
    errorsLastHour: NullableNumberColumn,
    /** The most frequent pattern of these error lines. */
    commonError: z.string(),
  }),
  'replication-slots': z.object({ slot: z.string(), lagBytes: CountColumn, growthBytesPerHour: NullableNumberColumn }),
} as const
/** Name of a row set of the replication service. */
export type ReplicationRowSet = keyof typeof replicationRowSets

/**
 * The row sets that detectors read. Each is the result of one fixed statement of `query`. Ages are by the clock of the
 * host; hour 0 is the last 60 minutes, day 0 the last 24 hours.
 */
export const insightRowSets = {
  /** Finished client queries by hour for four weeks. */
  'query-hours': z.object({
    hoursAgo: CountColumn,
    calls: CountColumn,
    errors: CountColumn,
    p95Ms: NullableNumberColumn,
    peakMemoryBytes: NullableNumberColumn,
  }),
  /**
   * Error codes of failed queries in the last day and in the seven days before. `historyHours` is the age of the log.
   */
  'error-codes': z.object({
    code: CountColumn,
    name: z.string(),
    recent: CountColumn,
    before: CountColumn,
    historyHours: CountColumn,
  }),
  /** The most expensive query patterns of the last day, by day for eight days. Averages are per execution. */
  'fingerprint-days': z.object({
    hash: z.string(),
    daysAgo: CountColumn,
    kind: z.string(),
    calls: CountColumn,
    totalMs: CountColumn,
    p95Ms: NullableNumberColumn,
    readRows: NullableNumberColumn,
    selectedParts: NullableNumberColumn,
    /** Share of the marks that were read, of all marks of the tables, from 0 to 1. */
    marksShare: NullableNumberColumn,
    /** Highest server revision of the executions, and the settings hash of one of them. */
    revision: CountColumn,
    settingsHash: z.string(),
    tables: z.array(z.string()),
    /** Total time of all patterns on day 0, the last 24 hours. */
    dayTotalMs: CountColumn,
    historyHours: CountColumn,
  }),
  /** Schema changes by table and day. */
  'schema-changes': z.object({ table: z.string(), daysAgo: CountColumn, changes: CountColumn }),
  /** Rows of new parts in the last hour, and in the same hour a day and a week ago. */
  inserts: z.object({
    ...table,
    lastHour: CountColumn,
    dayAgo: CountColumn,
    weekAgo: CountColumn,
    activeHours: CountColumn,
    historyHours: CountColumn,
  }),
  /** Tables, with figures of their active parts. */
  tables: z.object({
    ...table,
    parts: CountColumn,
    partsInFullestPartition: CountColumn,
    rows: CountColumn,
    compressedBytes: NullableNumberColumn,
    uncompressedBytes: NullableNumberColumn,
  }),
  /** Parts whose rows all expired by TTL more than a day ago. */
  'expired-parts': z.object({ ...table, parts: CountColumn, oldestHours: CountColumn, bytes: NullableNumberColumn }),
  replicas: z.object({ ...table, isReadonly: FlagColumn, delaySeconds: CountColumn }),
  'detached-parts': z.object({ ...table, parts: CountColumn }),
  /** Unfinished mutations. */
  mutations: z.object({
    ...table,
    mutationId: z.string(),
    ageSeconds: CountColumn,
    partsToDo: CountColumn,
    isFailing: FlagColumn,
  }),
  'running-queries': z.object({ hash: z.string(), user: z.string(), kind: z.string(), elapsedSeconds: z.number() }),
  dictionaries: z.object({ database: z.string(), name: z.string(), status: z.string(), isFailing: FlagColumn }),
  /** Used space by disk and hour for two weeks. */
  'disk-hours': z.object({
    disk: z.string(),
    hoursAgo: CountColumn,
    usedBytes: NullableNumberColumn,
    totalBytes: NullableNumberColumn,
  }),
  /** Changed settings with hashes of their values. */
  settings: z.object({ name: z.string(), valueHash: z.string() }),
  /** Parts in the fullest partition by hour for two days, and the limit at which inserts are rejected. */
  'part-hours': z.object({ hoursAgo: CountColumn, parts: NullableNumberColumn, refusedAt: NullableNumberColumn }),
  ...replicationRowSets,
} as const
/** Name of a row set of detectors. */
export type InsightRowSet = keyof typeof insightRowSets
/** Returns whether a row set comes from the replication service instead of a host. */
export const isReplicationRowSet = (set: InsightRowSet): set is ReplicationRowSet =>
  Object.hasOwn(replicationRowSets, set)
/** A row of the set with the name `S`. */
export type InsightRow<S extends InsightRowSet> = z.output<(typeof insightRowSets)[S]>
// The keys of an object literal are exactly the keys of its type.
const names = Object.keys(insightRowSets) as [InsightRowSet, ...InsightRowSet[]]

/** Maximum insights per call. */
export const maxInsightsPerRequest = 500

/**
 * Methods of `query` that provide the data of insights and store them in the table `monitoring_findings` of each host.
 */
export const insightRowMethods = {
  insightRows: rpc({
    doc: 'Returns the rows of one fixed statement for detectors, and its SQL.',
    callers: ['report'],
    feature: 'INSIGHTS',
    safe: true,
    prefer: 'hostKey',
    input: z.object({ ...hostInput, set: z.enum(names) }),
    output: z.object({
      rows: z.array(z.record(z.string(), z.unknown())),
      sql: z.string(),
      unavailable: UnavailableReason.nullable(),
      incomplete: IncompleteReason.nullable().default(null),
    }),
  }),
  storedFindings: rpc({
    doc: 'Lists insights in the table monitoring_findings of one host, newest first; none if the table does not exist.',
    callers: ['report'],
    feature: 'INSIGHTS',
    safe: true,
    prefer: 'hostKey',
    input: z.object({
      ...hostInput,
      sinceMs: z.int(),
      limit: z.int().min(1).max(maxInsightsPerRequest),
      ids: z.array(InsightId).max(maxInsightsPerRequest).optional(),
    }),
    output: z.array(Insight),
  }),
  keepFindings: rpc({
    doc: 'Stores insights in the table monitoring_findings of one host and creates the table if needed; later ones replace those with the same id.',
    callers: ['report'],
    feature: 'INSIGHTS',
    prefer: 'hostKey',
    input: z.object({ ...hostInput, insights: z.array(Insight).max(maxInsightsPerRequest), version: z.int().min(0) }),
    output: z.object({ kept: z.int().min(0) }),
  }),
  pruneFindings: rpc({
    doc: 'Removes older insights from the table monitoring_findings of one host.',
    callers: ['report'],
    feature: 'INSIGHTS',
    prefer: 'hostKey',
    input: z.object({ ...hostInput, beforeMs: z.int() }),
    output: z.object({ removed: z.int().min(0) }),
  }),
}
