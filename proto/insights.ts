import { z } from 'zod'
import { maxHours } from './time-limits.ts'
import { rpc } from './contract.ts'
import { HostKey, hostInput } from './host.ts'
import { parseSameOriginPath } from './same-origin-path.ts'

/** Severities of insights. */
export const insightSeverities = ['info', 'warning', 'critical'] as const
/** Confidence levels of insights. */
export const insightConfidences = ['low', 'medium', 'high'] as const

/** Hexadecimal hash of host, kind, subject and day. */
export const InsightId = z.string().regex(/^[0-9a-f]{16,64}$/, 'must be the id of an insight')

/** An insight about a host with its evidence. There is one per host, kind, subject and day. */
export const Insight = z.object({
  id: InsightId,
  hostKey: HostKey,
  /** Name of the detector. */
  kind: z.string().max(64),
  /** A table, a disk or a query pattern; empty for the host itself. */
  subject: z.string().max(300),
  /** The day in UTC, such as `2026-06-01`. */
  day: z.string().regex(/^\d{4}-\d{2}-\d{2}$/),
  severity: z.enum(insightSeverities),
  title: z.string().max(200),
  detail: z.string().max(2_000),
  /** `detail` with instants as `{when:<epoch milliseconds>}`, for pages that stay open; absent if it has none. */
  detailTemplate: z.string().max(2_000).optional(),
  /** What was measured, and over which time. */
  signal: z.string().max(120),
  window: z.string().max(120),
  /** The expected value; null if there is none. */
  baseline: z.number().nullable(),
  value: z.number().nullable(),
  unit: z.string().max(16),
  /** Deviation from the expected value in the scale of the detector; null for fixed limits. */
  score: z.number().nullable(),
  confidence: z.enum(insightConfidences),
  /** The statement that returns the evidence. */
  evidenceSql: z.string().max(20_000),
  /** Path of a page with details, without the host; empty if the stored link is invalid. */
  link: z
    .string()
    .max(500)
    .refine(
      (link) => link === '' || parseSameOriginPath(link) !== undefined,
      'must be a path of this site, such as /overview',
    ),
  foundAtMs: z.int().min(0),
  dismissed: z.object({ by: z.string().max(256), atMs: z.int().min(0) }).nullable(),
})
export type Insight = z.infer<typeof Insight>

/** A stored insight. Other programs can write to the store, so links to other sites are dropped. */
export const StoredInsight = Insight.extend({ link: Insight.shape.link.catch('') })

/** Databases that can store insights, or `memory`. */
export const insightBackends = ['clickhouse', 'edgesql', 'postgres', 'convstore', 'memory'] as const
/** The store of insights that is in use. */
export const InsightBackend = z.enum(insightBackends)
export type InsightBackend = z.infer<typeof InsightBackend>

/** The result of a scan of one host. */
export const InsightScan = z.object({
  startedAtMs: z.int().min(0),
  tookMs: z.number().min(0),
  found: z.int().min(0),
  /** Why the insights could not be stored; null if they were. */
  storeError: z.string().max(500).nullable(),
  /** Missing data and its reasons: no history, a missing table. */
  notes: z.array(z.string().max(500)).max(200),
})
export type InsightScan = z.infer<typeof InsightScan>

/** Methods of `report` for insights. */
export const insightMethods = {
  insights: rpc({
    doc: 'Lists insights of one host since a time, newest first.',
    callers: ['gateway', 'agent', 'mcp'],
    feature: 'INSIGHTS',
    safe: true,
    input: z.object({
      ...hostInput,
      lastHours: z.int().min(1).max(maxHours).default(168),
      severity: z.enum(insightSeverities).optional(),
      /** Whether to include dismissed insights. */
      dismissed: z.boolean().default(false),
      limit: z.int().min(1).max(500).default(100),
    }),
    output: z.array(Insight),
  }),
  insightStatus: rpc({
    doc: 'Returns the store of insights, why it differs from the configured one, and the last scan of one host.',
    callers: ['gateway'],
    feature: 'INSIGHTS',
    safe: true,
    input: z.object(hostInput),
    output: z.object({
      backend: InsightBackend,
      /** Why the store differs from the configured one; null if it does not. */
      reason: z.string().nullable(),
      detectors: z.array(z.string().max(64)),
      lastRun: InsightScan.nullable(),
    }),
  }),
  insightBackend: rpc({
    doc: 'Returns the store of insights.',
    callers: ['gateway'],
    feature: 'INSIGHTS',
    safe: true,
    input: z.object({}),
    output: z.object({ backend: InsightBackend }),
  }),
  generateInsights: rpc({
    doc: 'Scans one host for insights and stores them; within five minutes of the last scan only if forced.',
    callers: ['gateway'],
    feature: 'INSIGHTS',
    input: z.object({ ...hostInput, force: z.boolean().default(false) }),
    output: z.object({
      /** Whether a scan ran; false if the last scan is too recent. Its insights remain valid. */
      ran: z.boolean(),
      /** The result of the scan; null if the last scan has not finished. */
      run: InsightScan.nullable(),
      insights: z.array(Insight),
    }),
  }),
  dismissInsight: rpc({
    doc: 'Dismisses an insight, or restores it. A dismissal persists if the insight is found again on the same day.',
    callers: ['gateway'],
    feature: 'INSIGHTS',
    input: z.object({ ...hostInput, id: InsightId, dismissed: z.boolean() }),
    output: Insight,
  }),
}
