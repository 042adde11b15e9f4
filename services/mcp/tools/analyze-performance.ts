import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import type { Host } from '#proto/host.ts'
import { select } from '#shared/tools/select.ts'
import { type Asking, hostAt, ofHost } from '../asking.ts'
import { checks, type PerformanceCheck, Severity, severityOf } from '../performance-checks.ts'
import { whyUntold } from '../why-untold.ts'
import { tool } from '../tool.ts'

const Finding = z.object({
  check: z.string(),
  severity: Severity,
  summary: z.string(),
  value: z.number().nullable(),
  warning: z.number(),
  critical: z.number(),
  /** What it is worst at: tables, disks or statements. */
  where: z.array(z.object({ name: z.string(), value: z.number() })),
})
type Finding = z.infer<typeof Finding>

const order = Severity.options

export const analyzePerformance = tool({
  name: 'analyze_performance',
  title: 'Health of a host',
  description:
    'One snapshot with severities: slow queries of the last day, parts per partition, merge backlog, memory, disk. Start here.',
  feature: 'HEALTH',
  input: z.strictObject(ofHost),
  output: z.object({ severity: Severity, findings: z.array(Finding) }),
  async run({ hostId }, asking) {
    const host = await hostAt(asking, hostId)
    const asked = await Promise.all(checks.map((check) => findingOf(check, asking, host)))
    const findings = asked.map(({ finding }) => finding)
    const [first, ...others] = asked
    // A host that answers nothing at all has no health to tell, and why is all there is to know.
    if (first?.failure && others.every(({ failure }) => failure)) throw first.failure
    const worst = order.findLast((severity) => findings.some((finding) => finding.severity === severity)) ?? 'ok'
    const told = findings.filter(({ severity }) => severity !== 'ok').map(({ summary }) => summary)
    const text = `${host.name}: ${worst}. ${told.length === 0 ? 'Nothing stands out.' : told.join(' ')}`
    return { text, structured: { severity: worst, findings } }
  },
})

const mostWhere = 5
const Row = z.object({ name: z.string(), value: z.coerce.number() })

/** Each check fails alone: what one cannot tell, the others still do. A failure is of the statement, not of what the host keeps. */
const findingOf = async (
  check: PerformanceCheck,
  asking: Asking,
  host: Host,
): Promise<{ finding: Finding; failure?: ServiceError }> => {
  const { name, sql, warning, critical, summary, none } = check
  const common = { check: name, warning, critical }
  try {
    const where = await select(asking, host, { sql: sql(asking), maxRows: mostWhere }, Row)
    const [worst] = where
    if (worst === undefined) return { finding: { ...common, ...none, where } }
    const { value } = worst
    return { finding: { ...common, severity: severityOf(value, check), summary: summary(value), value, where } }
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code === 'internal' || asking.call.signal.aborted) throw error
    const why = whyUntold(error, host, check.table)
    const untold = `${name} is not known: ${why ?? error.message}.`
    const finding = { ...common, severity: 'unknown' as const, summary: untold, value: null, where: [] }
    return { finding, ...(why === undefined && { failure: error }) }
  }
}
