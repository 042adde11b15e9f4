import { z } from 'zod'
import { DefinitionId, Unit } from './catalogue.ts'
import { rpc } from './contract.ts'
import { ofHost, readers } from './host.ts'
import { Measure, Severity } from './rule-definition.ts'

export { Severity }

/** Where a rule breaches: a null severity is never reached. With `below`, smaller values are worse. */
export const Thresholds = z.object({
  warning: z.number().nullable(),
  critical: z.number().nullable(),
  below: z.boolean().default(false),
})
export type Thresholds = z.infer<typeof Thresholds>

/** A rule as everybody but its evaluator needs it: no statement. */
export const Rule = z.object({
  id: DefinitionId,
  title: z.string(),
  doc: z.string(),
  /** Its topic: the folder that it lies in. */
  category: z.string(),
  unit: Unit,
  measure: Measure,
  thresholds: Thresholds,
  /** A gauge clears once its value is better than this share of the threshold it passed; 1 clears at the threshold. */
  clearRatio: z.number(),
  /** A reading that rests on fewer observations is ok, whatever its value. */
  minimumSamples: z.number().int().min(1).nullable().default(null),
  /** Consecutive sweeps, where the rule asks for others than the product's. */
  breaches: z.number().int().min(1).nullable(),
  clears: z.number().int().min(1).nullable(),
  /** Evaluated on every n-th sweep, and on each one while its condition is not ok. */
  everySweeps: z.number().int().min(1),
  /** Rules that are off need to be turned on by the operator. */
  enabled: z.boolean(),
  /** About no host: measured once in a sweep, with the first host of the list. */
  once: z.boolean().default(false),
  /** Rules that must all breach at the same time, for a rule made of others: nothing is measured for it, its value is 1 while they do and 0 otherwise. */
  allOf: z.array(z.object({ rule: DefinitionId, severity: Severity })),
  runbook: z.string(),
  /** Whether `diagnoseRule` has something to show. */
  diagnosed: z.boolean(),
})
export type Rule = z.infer<typeof Rule>

/** What one rule or metric measured on one host; `value` is null where it could not be told, and `reason` says why in words. */
export const Reading = z.object({
  id: z.string().max(64),
  value: z.number().nullable(),
  reason: z.string().max(300).nullable(),
  /** How many observations the value rests on; null where that means nothing. */
  samples: z.number().nullable().default(null),
  /** Thresholds out of the server's own settings, where the rule is relative to them; they stand in for the rule's. */
  warning: z.number().nullable().default(null),
  critical: z.number().nullable().default(null),
  /** The worst five by name (tables, disks, users), or what kept the host from answering; never a statement. */
  offenders: z.array(z.string().max(200)).max(5).default([]),
})
export type Reading = z.infer<typeof Reading>

/** A figure that operators may put a rule of their own on. */
export const RuleMetric = z.object({
  id: DefinitionId,
  title: z.string(),
  doc: z.string(),
  category: z.string(),
  unit: Unit,
})
export type RuleMetric = z.infer<typeof RuleMetric>

/** Rows that explain a rule. */
export const maxDiagnosticRows = 50

/** Methods about rules: what they are, and what they measure on a host. Whether that is a breach is decided by `alert-dispatcher`. */
export const ruleMethods = {
  rules: rpc({
    doc: 'Every rule and every metric for rules of operators, by id.',
    callers: readers,
    safe: true,
    input: z.object({}),
    output: z.object({ rules: z.array(Rule), metrics: z.array(RuleMetric) }),
  }),
  evaluateRules: rpc({
    doc: 'Measures the named rules and metrics on one host: a probe of 2 seconds, then at most 12 statements. A host that does not answer is a reading of `host-unreachable`, not an error.',
    callers: ['alert-dispatcher'],
    safe: true,
    prefer: 'hostKey',
    input: z.object({
      ...ofHost,
      rules: z.array(DefinitionId).max(300),
      metrics: z.array(DefinitionId).max(100).default([]),
    }),
    output: z.object({
      /** One for each rule that was named. */
      readings: z.array(Reading),
      /** One for each metric that was named; a metric may have the id of a rule. */
      metrics: z.array(Reading).default([]),
      /** Of the server; counters of an earlier sweep are void when it went down. Null when it does not answer. */
      uptimeSeconds: z.number().nullable(),
      version: z.string().nullable(),
      statements: z.number().int().min(0),
      tookMs: z.number(),
    }),
  }),
  diagnoseRule: rpc({
    doc: 'The rows that explain a rule on one host, 50 at most.',
    callers: readers,
    feature: 'HEALTH',
    safe: true,
    prefer: 'hostKey',
    input: z.object({ ...ofHost, rule: DefinitionId }),
    output: z.object({
      columns: z.array(z.string()),
      rows: z.array(z.array(z.unknown())).max(maxDiagnosticRows),
      /** Why there is nothing to show; null otherwise. */
      unavailable: z.string().nullable(),
    }),
  }),
}
