import { z } from 'zod'
import { rpc } from './contract.ts'
import { HostKey, ofHost } from './host.ts'
import { ownPathOf } from './own-path.ts'

/** How much an insight matters. */
export const insightSeverities = ['info', 'warning', 'critical'] as const
/** How far an insight may be believed. */
export const insightConfidences = ['low', 'medium', 'high'] as const

/** A hash in hex: the same for the same host, kind, subject and day. */
export const InsightId = z.string().regex(/^[0-9a-f]{16,64}$/, 'must be the id of an insight')

/** Something about a host that is worth knowing, with what it rests on. One a day for each host, kind and subject. */
export const Insight = z.object({
  id: InsightId,
  hostKey: HostKey,
  /** Name of the detector. */
  kind: z.string().max(64),
  /** What it is about: a table, a disk, a pattern of statements; the host itself when empty. */
  subject: z.string().max(300),
  /** UTC, such as `2026-06-01`. */
  day: z.string().regex(/^\d{4}-\d{2}-\d{2}$/),
  severity: z.enum(insightSeverities),
  title: z.string().max(200),
  detail: z.string().max(2_000),
  /** What was measured, and over which time. */
  signal: z.string().max(120),
  window: z.string().max(120),
  /** What was to be expected; null where nothing is. */
  baseline: z.number().nullable(),
  value: z.number().nullable(),
  unit: z.string().max(16),
  /** How far the value is from what was to be expected, in the detector's own measure; null where a limit decides. */
  score: z.number().nullable(),
  confidence: z.enum(insightConfidences),
  /** The statement that shows what it rests on. */
  evidenceSql: z.string().max(20_000),
  /** Page of the product that shows more, without the host; empty where what was kept leads elsewhere. */
  link: z
    .string()
    .max(500)
    .refine((link) => link === '' || ownPathOf(link) !== undefined, 'must be a path of this site, such as /overview'),
  foundAtMs: z.int().min(0),
  dismissed: z.object({ by: z.string().max(256), atMs: z.int().min(0) }).nullable(),
})
export type Insight = z.infer<typeof Insight>

/** An insight as a store holds it. Others may write there too, so a link that leads to another site is dropped. */
export const StoredInsight = Insight.extend({ link: Insight.shape.link.catch('') })

/** Places that insights can be kept in. */
export const insightBackends = ['clickhouse', 'edgesql', 'postgres', 'convstore', 'memory'] as const
/** One of them. */
export const InsightBackend = z.enum(insightBackends)
export type InsightBackend = z.infer<typeof InsightBackend>

/** What came of looking for insights on one host. */
export const InsightRun = z.object({
  startedAtMs: z.int().min(0),
  tookMs: z.number().min(0),
  found: z.int().min(0),
  /** Why what was found is not kept, in words; null when it is. */
  notKept: z.string().max(500).nullable(),
  /** What could not be told, and why: no history, a table that is missing. */
  notes: z.array(z.string().max(500)).max(200),
})
export type InsightRun = z.infer<typeof InsightRun>

/** Methods of `report` about insights. */
export const insightMethods = {
  insights: rpc({
    doc: 'Insights about one host that were found since, the newest first.',
    callers: ['gateway', 'agent', 'mcp'],
    feature: 'INSIGHTS',
    safe: true,
    input: z.object({
      ...ofHost,
      lastHours: z.int().min(1).max(8_760).default(168),
      severity: z.enum(insightSeverities).optional(),
      /** Dismissed ones too. */
      dismissed: z.boolean().default(false),
      limit: z.int().min(1).max(500).default(100),
    }),
    output: z.array(Insight),
  }),
  insightStatus: rpc({
    doc: 'Where insights are kept, whether that was what the operator chose, and the last run of one host.',
    callers: ['gateway'],
    feature: 'INSIGHTS',
    safe: true,
    input: z.object(ofHost),
    output: z.object({
      backend: InsightBackend,
      /** Why it is another than the operator chose; null otherwise. */
      reason: z.string().nullable(),
      detectors: z.array(z.string().max(64)),
      lastRun: InsightRun.nullable(),
    }),
  }),
  insightBackend: rpc({
    doc: 'Where insights are kept.',
    callers: ['gateway'],
    feature: 'INSIGHTS',
    safe: true,
    input: z.object({}),
    output: z.object({ backend: InsightBackend }),
  }),
  generateInsights: rpc({
    doc: 'Looks for insights on one host and keeps them; within five minutes of the last run only when forced.',
    callers: ['gateway'],
    feature: 'INSIGHTS',
    input: z.object({ ...ofHost, force: z.boolean().default(false) }),
    output: z.object({
      /** False when the last run is too short ago: what it found stands. */
      ran: z.boolean(),
      /** Null when the last run has not ended. */
      run: InsightRun.nullable(),
      insights: z.array(Insight),
    }),
  }),
  dismissInsight: rpc({
    doc: 'Hides an insight from lists, or shows it again. It stays so however often it is found on its day.',
    callers: ['gateway'],
    feature: 'INSIGHTS',
    input: z.object({ ...ofHost, id: InsightId, dismissed: z.boolean() }),
    output: Insight,
  }),
}
