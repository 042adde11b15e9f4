import { z } from 'zod'
import { rpc } from './contract.ts'
import { ofHost } from './host.ts'
import { Insight, InsightId } from './insights.ts'
import { Unavailable } from './unavailable.ts'

/** A measured number: null where the host has none, or one that is not finite. */
export const Figure = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^-?\d+$/)
      .transform(Number),
  ])
  .nullable()
/** A count or an age that a row cannot be without; ages are below 0 where an entry is of the host's future. */
export const Count = z.union([
  z.number(),
  z
    .string()
    .regex(/^-?\d+$/)
    .transform(Number),
])
/** A yes or no, which older hosts tell as a number. */
export const Flag = z.union([z.boolean(), z.number()]).transform(Boolean)
const table = { database: z.string(), table: z.string() }

/** Sets that the replication service tells instead of a host; of every host but the first of the list, and without such a service, they are empty. */
export const replicationRowSets = {
  'replication-mirrors': z.object({
    mirror: z.string(),
    /** One of `repldbMirrorStates`. */
    state: z.string(),
    /** Since it has begun to copy what is there; null while it does not. */
    copyingHours: Figure,
    /** Lines of level error; null where the lines cannot be read. */
    errorsLastHour: Figure,
    /** The pattern that most of them have. */
    commonError: z.string(),
  }),
  'replication-slots': z.object({ slot: z.string(), lagBytes: Count, growthBytesPerHour: Figure }),
} as const
/** Name of a set that the replication service tells. */
export type ReplicationRowSet = keyof typeof replicationRowSets

/**
 * What detectors look at: every set is one fixed statement of `query`. Ages are by the clock of the host; hour 0 is the
 * last 60 minutes, day 0 the last 24 hours.
 */
export const insightRowSets = {
  /** Ended statements of clients, hour by hour for four weeks. */
  'query-hours': z.object({ hoursAgo: Count, calls: Count, errors: Count, p95Ms: Figure, peakMemoryBytes: Figure }),
  /** Codes of failed statements: the last day, and the seven days before. `historyHours` is how far the log goes back. */
  'error-codes': z.object({ code: Count, name: z.string(), recent: Count, before: Count, historyHours: Count }),
  /** The costliest patterns of the last day, day by day for eight days. Averages are per execution. */
  'fingerprint-days': z.object({
    hash: z.string(),
    daysAgo: Count,
    kind: z.string(),
    calls: Count,
    totalMs: Count,
    p95Ms: Figure,
    readRows: Figure,
    selectedParts: Figure,
    /** Share of the marks of the tables that was read. */
    marksShare: Figure,
    /** Of the server that executed it, and of the settings it was executed with. */
    revision: Count,
    settingsHash: z.string(),
    tables: z.array(z.string()),
    /** Time of all patterns on that day. */
    dayTotalMs: Count,
    historyHours: Count,
  }),
  /** Changes of the schema, by table and day. */
  'schema-changes': z.object({ table: z.string(), daysAgo: Count, changes: Count }),
  /** Rows written into new parts: the last hour, and the same hour a day and a week ago. */
  inserts: z.object({
    ...table,
    lastHour: Count,
    dayAgo: Count,
    weekAgo: Count,
    activeHours: Count,
    historyHours: Count,
  }),
  /** Tables as their active parts are now. */
  tables: z.object({
    ...table,
    parts: Count,
    partsInFullestPartition: Count,
    rows: Count,
    compressedBytes: Figure,
    uncompressedBytes: Figure,
  }),
  /** Parts whose rows should all have been removed by a TTL for more than a day. */
  'expired-parts': z.object({ ...table, parts: Count, oldestHours: Count, bytes: Figure }),
  replicas: z.object({ ...table, isReadonly: Flag, delaySeconds: Count }),
  'detached-parts': z.object({ ...table, parts: Count }),
  /** Mutations that are not done. */
  mutations: z.object({ ...table, mutationId: z.string(), ageSeconds: Count, partsToDo: Count, isFailing: Flag }),
  'running-queries': z.object({ hash: z.string(), user: z.string(), kind: z.string(), elapsedSeconds: z.number() }),
  dictionaries: z.object({ database: z.string(), name: z.string(), status: z.string(), isFailing: Flag }),
  /** Space used on each disk, hour by hour for two weeks. */
  'disk-hours': z.object({ disk: z.string(), hoursAgo: Count, usedBytes: Figure, totalBytes: Figure }),
  /** Settings that are not at their default, their values as hashes. */
  settings: z.object({ name: z.string(), valueHash: z.string() }),
  /** Parts in the fullest partition, hour by hour for two days, and where inserts are refused. */
  'part-hours': z.object({ hoursAgo: Count, parts: Figure, refusedAt: Figure }),
  ...replicationRowSets,
} as const
/** Name of a set. */
export type InsightRowSet = keyof typeof insightRowSets
/** Whether the replication service tells a set, and no host. */
export const isReplicationRowSet = (set: InsightRowSet): set is ReplicationRowSet =>
  Object.hasOwn(replicationRowSets, set)
/** One row of a set. */
export type InsightRow<S extends InsightRowSet> = z.output<(typeof insightRowSets)[S]>
// Keys of an object literal are exactly the keys of its type.
const names = Object.keys(insightRowSets) as [InsightRowSet, ...InsightRowSet[]]

/** Insights that one call carries at most. */
export const mostInsightsAtOnce = 500

/** Methods of `query` that insights are made of and kept with: fixed statements, and the table `monitoring_findings` of each host. */
export const insightRowMethods = {
  insightRows: rpc({
    doc: 'The rows of one fixed statement that a detector looks at, and its SQL.',
    callers: ['report'],
    feature: 'INSIGHTS',
    safe: true,
    prefer: 'hostKey',
    input: z.object({ ...ofHost, set: z.enum(names) }),
    output: z.object({
      rows: z.array(z.record(z.string(), z.unknown())),
      sql: z.string(),
      unavailable: Unavailable.nullable(),
    }),
  }),
  storedFindings: rpc({
    doc: 'Insights kept in the table monitoring_findings of one host, the newest first; none while there is no such table.',
    callers: ['report'],
    feature: 'INSIGHTS',
    safe: true,
    prefer: 'hostKey',
    input: z.object({
      ...ofHost,
      sinceMs: z.int(),
      limit: z.int().min(1).max(mostInsightsAtOnce),
      ids: z.array(InsightId).max(mostInsightsAtOnce).optional(),
    }),
    output: z.array(Insight),
  }),
  keepFindings: rpc({
    doc: 'Keeps insights in the table monitoring_findings of one host, which is created when it is not there; later ones replace those of the same id.',
    callers: ['report'],
    feature: 'INSIGHTS',
    prefer: 'hostKey',
    input: z.object({ ...ofHost, insights: z.array(Insight).max(mostInsightsAtOnce), version: z.int().min(0) }),
    output: z.object({ kept: z.int().min(0) }),
  }),
  pruneFindings: rpc({
    doc: 'Removes insights found before from the table monitoring_findings of one host.',
    callers: ['report'],
    feature: 'INSIGHTS',
    prefer: 'hostKey',
    input: z.object({ ...ofHost, beforeMs: z.int() }),
    output: z.object({ removed: z.int().min(0) }),
  }),
}
