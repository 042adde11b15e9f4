import { z } from 'zod'
import { maxRuleSqlLength, maxSqlRules } from './alert-policy.ts'
import { DefinitionId, Unit } from './catalogue.ts'
import { rpc } from './contract.ts'
import { hostInput, hostDataReaders } from './host.ts'
import { MeasureKind, Severity } from './rule-definition.ts'

export { Severity }

/** Thresholds of a rule. A severity with a null threshold is never reached. With `below`, smaller values are worse. */
export const Thresholds = z.object({
  warning: z.number().nullable(),
  critical: z.number().nullable(),
  below: z.boolean().default(false),
})
export type Thresholds = z.infer<typeof Thresholds>

/** A rule without its statement. */
export const Rule = z.object({
  id: DefinitionId,
  title: z.string(),
  doc: z.string(),
  /** The topic of the rule: its folder in `charts/`. */
  category: z.string(),
  unit: Unit,
  measure: MeasureKind,
  thresholds: Thresholds,
  /**
   * Hysteresis of gauges. With 0.9, a firing condition clears only if its value is 10 % below the threshold. If low
   * values breach, the value must be 10 % above the threshold.
   */
  clearRatio: z.number(),
  /** A reading with fewer observations is ok at any value. */
  minimumSamples: z.number().int().min(1).nullable().default(null),
  /** Consecutive sweeps until the condition fires or clears; null for the default. */
  breaches: z.number().int().min(1).nullable(),
  clears: z.number().int().min(1).nullable(),
  /** Interval between evaluations, in sweeps. While the condition is not ok, the rule is evaluated in every sweep. */
  everySweeps: z.number().int().min(1),
  /** Whether the rule is enabled by default. If not, the operator must enable it. */
  enabled: z.boolean(),
  /** Whether the rule concerns no host. It is then measured once per sweep, with the first host of the list. */
  once: z.boolean().default(false),
  /**
   * The rules of a combined rule, which must all breach at the same time. Its value is 1 while they do and 0 otherwise.
   */
  allOf: z.array(z.object({ rule: DefinitionId, severity: Severity })),
  runbook: z.string(),
  /** The page with the queries that cause the condition; undefined if there is none, and from older releases. */
  href: z.string().optional(),
  /** The length of the window that the rule reads, in minutes; undefined for current values, and from older releases. */
  lastMinutes: z.number().int().optional(),
  /** Whether the rule has a diagnostic, a statement whose rows explain the condition. */
  diagnosed: z.boolean(),
})
export type Rule = z.infer<typeof Rule>

/** The measurement of one rule or metric on one host; `value` is null without data, with the reason in `reason`. */
export const RuleReading = z.object({
  id: z.string().max(64),
  value: z.number().nullable(),
  reason: z.string().max(300).nullable(),
  /** Why the value may be too small: the host hides rows from its user. Such a value can fire, but it cannot be ok. */
  incomplete: z.string().max(300).nullable().default(null),
  /** Number of observations of the value; null if not applicable. */
  samples: z.number().nullable().default(null),
  /** Thresholds from server settings, which replace those of the rule. */
  warning: z.number().nullable().default(null),
  critical: z.number().nullable().default(null),
  /** The worst five by name (tables, disks, users), or the connection error; never a statement. */
  offenders: z.array(z.string().max(200)).max(5).default([]),
})
export type RuleReading = z.infer<typeof RuleReading>

/** A value on which operators can define rules. */
export const RuleMetric = z.object({
  id: DefinitionId,
  title: z.string(),
  doc: z.string(),
  category: z.string(),
  unit: Unit,
})
export type RuleMetric = z.infer<typeof RuleMetric>

const SqlRuleId = z.string().min(1).max(160)
const RuleSql = z.string().min(1).max(maxRuleSqlLength)

/** Maximum rows of a diagnostic. */
export const maxDiagnosticRows = 50

/** Methods for rules: their definitions and their readings on a host. `alert-dispatcher` evaluates the readings. */
export const ruleMethods = {
  rules: rpc({
    doc: 'Lists all rules, and all metrics for custom rules, by id.',
    callers: hostDataReaders,
    safe: true,
    input: z.object({}),
    output: z.object({ rules: z.array(Rule), metrics: z.array(RuleMetric) }),
  }),
  evaluateRules: rpc({
    doc: 'Measures the named rules and metrics on one host: a probe of 2 seconds, then at most 12 statements. An unreachable host is a reading of `host-unreachable`, not an error.',
    callers: ['alert-dispatcher'],
    safe: true,
    prefer: 'hostKey',
    input: z.object({
      ...hostInput,
      rules: z.array(DefinitionId).max(300),
      metrics: z.array(DefinitionId).max(100).default([]),
    }),
    output: z.object({
      /** One reading per requested rule. */
      readings: z.array(RuleReading),
      /** One reading per requested metric. A metric can have the same id as a rule. */
      metrics: z.array(RuleReading).default([]),
      /** Uptime of the server; null if unreachable. If it decreased, counters of the earlier sweep are invalid. */
      uptimeSeconds: z.number().nullable(),
      version: z.string().nullable(),
      statements: z.number().int().min(0),
      tookMs: z.number(),
    }),
  }),
  checkRuleStatement: rpc({
    doc: 'Throws `invalid` unless the statement of an SQL rule is one SELECT that only reads; queries no host.',
    callers: ['alert-dispatcher'],
    safe: true,
    input: z.object({ sql: RuleSql }),
    output: z.object({}),
  }),
  measureStatements: rpc({
    doc: 'Runs the statements of SQL rules on one host, at most 20 seconds in total, and returns one reading each.',
    callers: ['alert-dispatcher'],
    safe: true,
    prefer: 'hostKey',
    input: z.object({
      ...hostInput,
      statements: z.array(z.object({ id: SqlRuleId, sql: RuleSql })).max(maxSqlRules),
    }),
    output: z.object({ readings: z.array(RuleReading.extend({ id: SqlRuleId })) }),
  }),
  diagnoseRule: rpc({
    doc: 'Returns the diagnostic of a rule on one host, at most 50 rows.',
    callers: hostDataReaders,
    feature: 'HEALTH',
    safe: true,
    prefer: 'hostKey',
    input: z.object({ ...hostInput, rule: DefinitionId }),
    output: z.object({
      columns: z.array(z.string()),
      rows: z.array(z.array(z.unknown())).max(maxDiagnosticRows),
      /** Why there is no diagnostic; null otherwise. */
      unavailable: z.string().nullable(),
    }),
  }),
}
