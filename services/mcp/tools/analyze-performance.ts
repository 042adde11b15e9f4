import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import type { Host } from '#proto/host.ts'
import { numericCellSchema, readRows } from '#shared/tools/read-rows.ts'
import { findHost, defineReadTool, createToolResult, type ToolContext } from '#shared/tools/tool.ts'
import { hostParameter } from '#shared/tools/tool-parameters.ts'
import { findUnavailableReason } from '../result-text.ts'

/** Severities from best to worst; unknown ranks below a warning. */
const Severity = z.enum(['ok', 'unknown', 'warning', 'critical'])
type Severity = z.infer<typeof Severity>

const Finding = z.object({
  check: z.string(),
  severity: Severity,
  summary: z.string(),
  value: z.number().nullable(),
  warning: z.number(),
  critical: z.number(),
  /** The worst tables, disks or statements of the check. */
  where: z.array(z.object({ name: z.string(), value: z.number() })),
})
type Finding = z.infer<typeof Finding>

const order = Severity.options

export const analyzePerformance = defineReadTool({
  name: 'analyze_performance',
  title: 'Health of a host',
  description:
    'One snapshot with severities: slow queries, parts per partition, merge backlog, memory, disk. Start here.',
  feature: 'HEALTH',
  answersFromHistory: true,
  input: z.strictObject(hostParameter),
  output: z.object({ severity: Severity, findings: z.array(Finding) }),
  async run({ hostId }, context) {
    const host = await findHost(context, hostId)
    const findings = (await readSnapshot(context, host)) ?? (await runChecks(context, host))
    const worst = order.findLast((severity) => findings.some((finding) => finding.severity === severity)) ?? 'ok'
    const problems = findings.filter(({ severity }) => severity !== 'ok').map(({ summary }) => summary)
    const text = `${host.name}: ${worst}. ${problems.length === 0 ? 'No problems found.' : problems.join(' ')}`
    return createToolResult(text, { severity: worst, findings })
  },
})

/** Maximum number of tables, disks or statements per check; as many as the combined statement returns. */
const maxWhere = 5
const Row = z.object({ name: z.string(), value: numericCellSchema })
const SnapshotRow = Row.extend({ check: z.string() })

/** Returns the statement of a check, or the one that combines all checks. */
const statementOf = (name: string, { fullStatements }: ToolContext, maxRows = maxWhere) => ({
  tool: 'analyze_performance',
  statement: name,
  parameters: { fullStatements: Number(fullStatements) },
  maxRows,
})

/** Runs all checks in one statement. Returns undefined if the host rejects it, for example without a query log. */
const readSnapshot = async (context: ToolContext, host: Host): Promise<Finding[] | undefined> => {
  try {
    const rows = await readRows(context, host, statementOf('snapshot', context, maxWhere * checks.length), SnapshotRow)
    return checks.map((check) => {
      const where = rows.filter((row) => row.check === check.name).map(({ name, value }) => ({ name, value }))
      return toFinding(
        check,
        where.toSorted((left, right) => right.value - left.value),
      )
    })
  } catch (error) {
    if (!(error instanceof ServiceError) || context.call.signal.aborted) throw error
    // Separate checks would fail with the same error.
    if (['internal', 'busy', 'unavailable'].includes(error.code)) throw error
    return undefined
  }
}

/** Runs the checks one after another, so that they take one slot of the host. */
const runChecks = async (context: ToolContext, host: Host): Promise<Finding[]> => {
  const findings: Finding[] = []
  const failures: ServiceError[] = []
  for (const check of checks) {
    const { finding, failure } = await runCheck(check, context, host)
    findings.push(finding)
    if (failure) failures.push(failure)
  }
  // If every check fails, the host has no health status, so the error is returned.
  if (failures[0] && failures.length === checks.length) throw failures[0]
  return findings
}

const toFinding = (check: PerformanceCheck, where: Finding['where']): Finding => {
  const { name, warning, critical, summary, none } = check
  const common = { check: name, warning, critical }
  const [worst] = where
  if (worst === undefined) return { ...common, ...none, where }
  const { value } = worst
  return { ...common, severity: severityOf(value, check), summary: summary(value), value, where }
}

/** Runs one check. A failed check returns an unknown finding, so that the others still count. */
const runCheck = async (
  check: PerformanceCheck,
  context: ToolContext,
  host: Host,
): Promise<{ finding: Finding; failure?: ServiceError }> => {
  const { name, warning, critical } = check
  try {
    return { finding: toFinding(check, await readRows(context, host, statementOf(name, context), Row)) }
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code === 'internal' || context.call.signal.aborted) throw error
    const reason = findUnavailableReason(error, host, check.table)
    const summary = `${name}: no data: ${reason ?? error.message}.`
    const finding = { check: name, severity: 'unknown' as const, summary, value: null, warning, critical, where: [] }
    return { finding, ...(reason === undefined && { failure: error }) }
  }
}

/** One check of a host. Its statement of the same name returns rows of name and value, the worst first. */
interface PerformanceCheck {
  name: string
  /** The table that its statement reads. */
  table: string
  /** Thresholds of the severities. */
  warning: number
  critical: number
  summary(value: number): string
  /** The finding if the statement returns no row. */
  none: { severity: Severity; value: number | null; summary: string }
}

const severityOf = (value: number, { warning, critical }: Pick<PerformanceCheck, 'warning' | 'critical'>): Severity => {
  if (value >= critical) return 'critical'
  return value >= warning ? 'warning' : 'ok'
}

const percent = (value: number): string => `${value.toFixed(1)} %`
const seconds = (value: number): string => `${value.toFixed(1)} s`

/** The checks of a host. */
const checks: readonly PerformanceCheck[] = [
  {
    name: 'slow-queries',
    table: 'system.query_log',
    warning: 10,
    critical: 60,
    summary: (value) => `The slowest query of the last day took ${seconds(value)}.`,
    none: { severity: 'ok', value: 0, summary: 'The query log contains no queries of the last day.' },
  },
  {
    // ClickHouse delays inserts at 1,000 active parts per partition (parts_to_delay_insert) and rejects them at 3,000.
    name: 'parts-per-partition',
    table: 'system.parts',
    warning: 300,
    critical: 1_000,
    summary: (value) => `The fullest partition has ${value} active parts.`,
    none: { severity: 'ok', value: 0, summary: 'There are no parts.' },
  },
  {
    name: 'merge-backlog',
    table: 'system.merges',
    warning: 600,
    critical: 3_600,
    summary: (value) => `The longest merge has been running for ${seconds(value)}.`,
    none: { severity: 'ok', value: 0, summary: 'No merge is running.' },
  },
  {
    name: 'memory',
    table: 'system.asynchronous_metrics',
    warning: 80,
    critical: 90,
    summary: (value) => `Memory usage is ${percent(value)}.`,
    none: { severity: 'unknown', value: null, summary: 'Memory usage is not reported by this host.' },
  },
  {
    name: 'disk',
    table: 'system.disks',
    warning: 80,
    critical: 90,
    summary: (value) => `The fullest disk is ${percent(value)} full.`,
    none: { severity: 'unknown', value: null, summary: 'This host reports no local disk with a known size.' },
  },
]
