import { z } from 'zod'
import { DefinitionId, RowsPath, VersionedSql, Unit } from './catalogue.ts'

/** The severity of a condition. */
export const Severity = z.enum(['warning', 'critical'])
export type Severity = z.infer<typeof Severity>

/**
 * How a reading is evaluated. A `gauge` is compared with the thresholds directly. A `counter` is a total since the
 * server start; its increase between two sweeps is compared. A `slope` is a gauge whose increase is compared.
 */
export const MeasureKind = z.enum(['gauge', 'counter', 'slope'])

/**
 * Columns of the statement of a rule: the value, thresholds from server settings, the number of observations, and the
 * worst offenders by name.
 */
const RuleColumn = z.enum(['measured', 'warning', 'critical', 'samples', 'offenders'])

const descriptionFields = {
  title: z.string().min(1).max(80),
  /** Description of the value in one sentence. */
  doc: z.string().min(1).max(400),
  unit: Unit.default('count'),
  /**
   * All tables of `system` that the statement reads. It is not run if one is missing. Rules with the same tables share
   * a query.
   */
  requires: z.array(z.string().regex(/^system\.\w+$/, 'must be a table such as system.parts')).default([]),
  /** Length of `$window` in minutes. */
  lastMinutes: z.number().int().min(1).max(43_200).optional(),
}

/** Rows that replace tables of `system`, by table name. */
const Rows = z.record(z.string().regex(/^\w+$/), z.array(z.record(z.string(), z.unknown())))

/** Test data of a rule: rows that breach it, and rows that do not. The product does not use them. */
const RuleExample = z.strictObject({
  trouble: Rows,
  /** The value that the rule measures for `trouble`; for counters, the increase from an empty table. */
  measured: z.number(),
  severity: Severity,
  relief: Rows,
})

/** The shape of `charts/<topic>/<id>.rule.yaml`. A rule has exactly one of `sql`, `evaluator` and `allOf`. */
export const RuleDefinition = z.strictObject({
  ...descriptionFields,
  measure: MeasureKind.default('gauge'),
  thresholds: z.strictObject({
    warning: z.number().nullable().default(null),
    critical: z.number().nullable().default(null),
    below: z.boolean().default(false),
  }),
  clearRatio: z.number().gt(0).max(1).default(0.9),
  minimumSamples: z.number().int().min(1).optional(),
  breaches: z.number().int().min(1).max(100).optional(),
  clears: z.number().int().min(1).max(100).optional(),
  everySweeps: z.number().int().min(1).max(100).default(1),
  enabled: z.boolean().default(true),
  /** Whether the rule concerns no host. It is then measured once per sweep, with the first host of the list. */
  once: z.boolean().default(false),
  /** A statement that returns one row with these `columns`. */
  sql: VersionedSql.optional(),
  columns: z.array(RuleColumn).default(['measured']),
  /** Whether the statement is so slow that it must not share a query with other rules. */
  alone: z.boolean().default(false),
  /** Name of a file of `services/query/rules/evaluators/`, for a rule without SQL. */
  evaluator: z.string().optional(),
  /** Rules that must all breach at the same time. */
  allOf: z
    .array(z.strictObject({ rule: DefinitionId, severity: Severity }))
    .min(2)
    .optional(),
  /** The page with the queries that cause the condition, if the rule is about queries. */
  href: RowsPath.optional(),
  /** Meaning of the alert, checks and remedies. */
  runbook: z.string().min(100).max(2_000),
  /** A statement whose rows explain the condition. They contain only normalized statement text. */
  diagnostic: VersionedSql.optional(),
  /** Tables that the diagnostic reads, if they differ from `requires`. */
  diagnosticRequires: z.array(z.string().regex(/^system\.\w+$/, 'must be a table such as system.parts')).optional(),
  example: RuleExample.optional(),
})
export type RuleDefinition = z.infer<typeof RuleDefinition>

/** The shape of `charts/<topic>/<id>.metric.yaml`: a value on which operators can define rules. */
export const MetricDefinition = z.strictObject({ ...descriptionFields, sql: VersionedSql })
export type MetricDefinition = z.infer<typeof MetricDefinition>
