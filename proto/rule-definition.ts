import { z } from 'zod'
import { DefinitionId, Sql, Unit } from './catalogue.ts'

/** How bad a condition is. */
export const Severity = z.enum(['warning', 'critical'])
export type Severity = z.infer<typeof Severity>

/** How readings become a figure: a `counter` is a total since the server started, judged by its growth between two sweeps; a `slope` is a gauge judged so. */
export const Measure = z.enum(['gauge', 'counter', 'slope'])

/** What the statement of a rule tells besides the figure: thresholds out of the server's own settings, how many observations the figure rests on, and the worst by name. */
const RuleColumn = z.enum(['measured', 'warning', 'critical', 'samples', 'offenders'])

const described = {
  title: z.string().min(1).max(80),
  /** One sentence: what the figure is. */
  doc: z.string().min(1).max(400),
  unit: Unit.default('count'),
  /** All tables of `system` that the statement reads; where one is missing nothing is asked. Rules that read the same are asked together. */
  requires: z.array(z.string().regex(/^system\.\w+$/, 'a table such as system.parts')).default([]),
  /** The span of `$window` and `$since`. */
  lastMinutes: z.number().int().min(1).max(43_200).optional(),
}

/** Rows in place of tables of `system`, by the name of the table. */
const Rows = z.record(z.string().regex(/^\w+$/), z.array(z.record(z.string(), z.unknown())))

/** Rows under which a rule breaches and others under which it is ok, for its test; the product does not read them. */
const RuleExample = z.strictObject({
  trouble: Rows,
  /** What the rule measures of `trouble`; of counters what they have grown by since there were no rows. */
  measured: z.number(),
  severity: Severity,
  relief: Rows,
})

/** The shape of `charts/<topic>/<id>.rule.yaml`: measured by exactly one of `sql`, `evaluator` and `allOf`. */
export const RuleDefinition = z.strictObject({
  ...described,
  measure: Measure.default('gauge'),
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
  /** It is about no host: measured once in a sweep, with the first host of the list. */
  once: z.boolean().default(false),
  /** One row with the columns below. */
  sql: Sql.optional(),
  columns: z.array(RuleColumn).default(['measured']),
  /** Slow enough that no other rule should wait for it or fail with it. */
  alone: z.boolean().default(false),
  /** What is no SQL: a file of `services/query/rules/evaluators/`. */
  evaluator: z.string().optional(),
  /** Made of other rules, which must breach at the same time. */
  allOf: z
    .array(z.strictObject({ rule: DefinitionId, severity: Severity }))
    .min(2)
    .optional(),
  /** What it means, what to look at and what to do. */
  runbook: z.string().min(100).max(2_000),
  /** The rows that explain it; no statement text unless normalised. */
  diagnostic: Sql.optional(),
  /** Tables that the diagnostic reads, where they are others. */
  diagnosticRequires: z.array(z.string().regex(/^system\.\w+$/, 'a table such as system.parts')).optional(),
  example: RuleExample.optional(),
})
export type RuleDefinition = z.infer<typeof RuleDefinition>

/** The shape of `charts/<topic>/<id>.metric.yaml`: a figure that operators may put a rule of their own on. */
export const MetricDefinition = z.strictObject({ ...described, sql: Sql })
export type MetricDefinition = z.infer<typeof MetricDefinition>
