import { z } from 'zod'
import type { AlertCheck, AlertCondition } from '#proto/alerting.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Host } from '#proto/host.ts'
import { createToolResult, defineReadTool, findHost, type ToolContext } from '#shared/tools/tool.ts'
import { createNameParameter, hostParameter, structuredParameter } from '#shared/tools/tool-parameters.ts'
import { formatInstant } from '#shared/time/format-instant.ts'
import { compareConditions, readAlertState, requireAlerts } from '../alert-state.ts'
import { formatCountedNoun } from '../result-text.ts'
import { formatRow, toCell, type Cell } from '../result-rows.ts'

/** Maximum number of alerts that one call explains. */
const maxDiagnosed = 3
/** Maximum rows per alert, if several are explained, and if one is. */
const maxRows = { several: 10, one: 50 }

const CellSchema = z.union([z.string(), z.number(), z.boolean(), z.null()])
const Diagnosis = z.object({
  ruleId: z.string(),
  title: z.string(),
  /** `warning`, `critical`, `ok`, `unknown` or `off`. */
  status: z.string(),
  value: z.number().nullable(),
  threshold: z.number().nullable(),
  since: z.string().nullable(),
  offenders: z.array(z.string()),
  runbook: z.string(),
  /** The rows that explain the alert, and why there are none. */
  columns: z.array(z.string()),
  rows: z.array(z.array(CellSchema)),
  unavailable: z.string().nullable(),
})
type Diagnosis = z.infer<typeof Diagnosis>

export const diagnose = defineReadTool({
  name: 'diagnose',
  title: 'Explain alerts',
  description: 'Explains the worst open alerts of a host, or one rule: value, runbook, and the rows that cause it.',
  feature: 'HEALTH',
  input: z.strictObject({
    ...hostParameter,
    ruleId: createNameParameter('A rule of get_alerts; by default the worst open alerts').optional(),
    ...structuredParameter,
  }),
  output: z.object({ diagnoses: z.array(Diagnosis), openAlerts: z.array(z.string()) }),
  format: ({ diagnoses }) => diagnoses.map(formatDiagnosis).join('\n\n'),
  async run({ hostId, ruleId }, context) {
    const host = await findHost(context, hostId)
    const found = await findSubjects(context, host, ruleId)
    const open = found.open.map((condition) => condition.ruleId)
    const chosen = ruleId === undefined ? open.slice(0, maxDiagnosed) : [ruleId]
    const rows = chosen.length === 1 ? maxRows.one : maxRows.several
    const diagnoses = await Promise.all(chosen.map((rule) => diagnoseOne(context, host, rule, found, rows)))
    return createToolResult(describe(host, diagnoses, open, found.isSwept), { diagnoses, openAlerts: open })
  },
})

/** The open conditions of a host, worst first, and the last result of each rule. */
interface Subjects {
  open: AlertCondition[]
  checks: ReadonlyMap<string, AlertCheck>
  isSwept: boolean
}

const noSubjects: Subjects = { open: [], checks: new Map(), isSwept: false }

/** Reads the subjects. A named rule can be explained without the service that evaluates the rules. */
const findSubjects = async (context: ToolContext, host: Host, ruleId: string | undefined): Promise<Subjects> => {
  try {
    return await readSubjects(context, host)
  } catch (error) {
    if (ruleId !== undefined && error instanceof ServiceError && error.code === 'unavailable') return noSubjects
    throw error
  }
}

const readSubjects = async (context: ToolContext, host: Host): Promise<Subjects> => {
  const alerts = requireAlerts(context)
  const [state, checks] = await Promise.all([
    readAlertState(context, [host]),
    alerts.alertChecks({ hostKey: host.key }, context.call),
  ])
  const open = state.hosts.flatMap(({ conditions }) => conditions).filter(({ phase }) => phase !== 'cleared')
  return {
    open: open.toSorted(compareConditions),
    checks: new Map(checks.map((check) => [check.ruleId, check])),
    isSwept: state.sweptAtMs !== null,
  }
}

const diagnoseOne = async (
  context: ToolContext,
  host: Host,
  ruleId: string,
  { open, checks }: Subjects,
  limit: number,
): Promise<Diagnosis> => {
  const condition = open.find((each) => each.ruleId === ruleId)
  const check = checks.get(ruleId)
  const explained = await explain(context, host, ruleId, check)
  return {
    ruleId,
    title: condition?.title ?? check?.title ?? ruleId,
    status: condition?.severity ?? check?.status ?? 'unknown',
    value: condition?.value ?? check?.value ?? null,
    threshold: condition?.threshold ?? check?.critical ?? check?.warning ?? null,
    since: condition ? formatInstant(condition.sinceMs) : null,
    offenders: condition?.offenders ?? [],
    runbook: check?.runbook ?? '',
    ...explained,
    rows: explained.rows.slice(0, limit),
  }
}

interface Explanation {
  columns: string[]
  rows: Cell[][]
  unavailable: string | null
}

/** Returns the rows of a rule's diagnostic. Custom rules have none. A failure is part of the result. */
const explain = async (
  { query, call }: ToolContext,
  host: Host,
  ruleId: string,
  check: AlertCheck | undefined,
): Promise<Explanation> => {
  const without = (unavailable: string): Explanation => ({ columns: [], rows: [], unavailable })
  if (check && !check.diagnosed) return without('this rule has no diagnostic query')
  try {
    const { columns, rows, unavailable } = await query.diagnoseRule({ hostKey: host.key, rule: ruleId }, call)
    return { columns, rows: rows.map((row) => row.map(toCell)), unavailable }
  } catch (error) {
    const isUsable = error instanceof ServiceError && error.code !== 'not-found' && error.code !== 'internal'
    if (!isUsable || call.signal.aborted) throw error
    return without(error.message)
  }
}

const describe = (host: Host, diagnoses: readonly Diagnosis[], open: readonly string[], isSwept: boolean): string => {
  if (diagnoses.length === 0) {
    const known = isSwept ? 'No open alerts' : 'No sweep has run yet'
    return `${known} on ${host.name}. Use analyze_performance for a snapshot, or set ruleId.`
  }
  const parts = diagnoses.map(({ title, status, rows, unavailable }) => {
    const reason = unavailable === null ? formatCountedNoun(rows.length, 'row') : `no rows: ${unavailable}`
    return `${title}: ${status}, ${reason}.`
  })
  const others = open.filter((ruleId) => diagnoses.every((each) => each.ruleId !== ruleId))
  const more = others.length > 0 ? ` Also open: ${others.join(', ')}; set ruleId to explain one.` : ''
  return `${host.name}: ${parts.join(' ')}${more}`
}

const formatDiagnosis = (diagnosis: Diagnosis): string => {
  const { ruleId, title, status, value, threshold, since, offenders, runbook, columns, rows, unavailable } = diagnosis
  const facts = [
    `status: ${status}`,
    value !== null && `value: ${value}`,
    threshold !== null && `threshold: ${threshold}`,
    since !== null && `since: ${since}`,
    offenders.length > 0 && `offenders: ${offenders.join(', ')}`,
  ]
  const lines = [
    `${title} (${ruleId})`,
    facts.filter(Boolean).join('; '),
    runbook && `runbook: ${runbook}`,
    unavailable !== null && `no rows: ${unavailable}`,
    ...(rows.length > 0 ? [formatRow(columns), ...rows.map(formatRow)] : []),
  ]
  return lines.filter(Boolean).join('\n')
}
