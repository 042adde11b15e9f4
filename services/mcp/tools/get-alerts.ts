import { z } from 'zod'
import type { AlertCondition } from '#proto/alerting.ts'
import { integerSchema } from '#shared/tools/read-rows.ts'
import { createToolResult, defineReadTool, type ToolContext } from '#shared/tools/tool.ts'
import { createLimitParameter, onlyHostParameter, structuredParameter } from '#shared/tools/tool-parameters.ts'
import { formatInstant } from '#shared/time/format-instant.ts'
import { compareConditions, readAlertState } from '../alert-state.ts'
import { formatRecords } from '../result-rows.ts'
import { formatCountedNoun, formatNames } from '../result-text.ts'
import { selectHosts } from '../select-hosts.ts'

const Alert = z.object({
  hostId: integerSchema.nullable(),
  /** Name of the host, or the system that sent the alert. */
  host: z.string(),
  ruleId: z.string(),
  title: z.string(),
  phase: z.string(),
  severity: z.string(),
  value: z.number().nullable(),
  threshold: z.number().nullable(),
  unit: z.string(),
  since: z.string(),
  /** `acknowledged`, `dismissed`, or null if the alert is not silenced. */
  silenced: z.string().nullable(),
  offenders: z.array(z.string()),
})
type Alert = z.infer<typeof Alert>

export const getAlerts = defineReadTool({
  name: 'get_alerts',
  title: 'Open alerts',
  description: 'Open alerts of all hosts as of the last sweep, worst first. diagnose explains one by its ruleId.',
  feature: 'HEALTH',
  input: z.strictObject({
    ...onlyHostParameter,
    severity: z.enum(['warning', 'critical']).optional().describe('Only this severity'),
    limit: createLimitParameter(50, 500),
    ...structuredParameter,
  }),
  output: z.object({ alerts: z.array(Alert), sweptAt: z.string().nullable(), truncated: z.boolean() }),
  format: ({ alerts }) => formatRecords(alerts),
  async run({ hostId, severity, limit }, context) {
    const listed = await selectHosts(context, hostId)
    const [state, inbound] = await Promise.all([
      readAlertState(context, listed),
      hostId === undefined ? readInboundAlerts(context, limit) : noInbound,
    ])
    const ofHosts = state.hosts
      .flatMap(({ host, conditions }) => conditions.map((condition) => ({ host, condition })))
      .toSorted((one, other) => compareConditions(one.condition, other.condition))
      .map(({ host, condition }) => toAlert(condition, { hostId: host.id, host: host.name }))
    const open = [...ofHosts, ...inbound.alerts].filter(
      (alert) => severity === undefined || alert.severity === severity,
    )
    const alerts = open.slice(0, limit)
    const truncated = open.length > limit || state.truncated || inbound.truncated
    const text = [
      describeAlerts(alerts, truncated),
      state.sweptAtMs === null
        ? 'No sweep has run yet, so alerts of hosts are not known; use analyze_performance.'
        : `Last sweep: ${formatInstant(state.sweptAtMs)}.`,
    ].join(' ')
    const sweptAt = state.sweptAtMs === null ? null : formatInstant(state.sweptAtMs)
    return createToolResult(text, { alerts, sweptAt, truncated })
  },
})

const noInbound: { alerts: Alert[]; truncated: boolean } = { alerts: [], truncated: false }

/** Returns the open alerts that other systems sent, which belong to no host. */
const readInboundAlerts = async ({ alerts, call }: ToolContext, limit: number) => {
  if (alerts === undefined) return noInbound
  const { conditions, open } = await alerts.inboundConditions({ limit }, call)
  const found = conditions.map((condition) => toAlert(condition, { hostId: null, host: condition.source }))
  return { alerts: found, truncated: open > found.length }
}

const toAlert = (condition: AlertCondition, where: Pick<Alert, 'hostId' | 'host'>): Alert => {
  const { ruleId, title, phase, severity, value, threshold, unit, sinceMs, offenders } = condition
  const silenced = condition.dismissed ? 'dismissed' : condition.acknowledged ? 'acknowledged' : null
  const since = formatInstant(sinceMs)
  return { ...where, ruleId, title, phase, severity, value, threshold, unit, since, silenced, offenders }
}

const describeAlerts = (alerts: readonly Alert[], truncated: boolean): string => {
  if (alerts.length === 0) return 'No open alerts.'
  const critical = alerts.filter(({ severity }) => severity === 'critical').length
  const hosts = formatNames([...new Set(alerts.map(({ host }) => host))])
  const more = truncated ? '; there are more' : ''
  return `${formatCountedNoun(alerts.length, 'open alert')} (${critical} critical) on ${hosts}${more}.`
}
