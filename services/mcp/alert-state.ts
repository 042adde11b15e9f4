import type { AlertCondition } from '#proto/alerting.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Host } from '#proto/host.ts'
import type { ToolContext } from '#shared/tools/tool.ts'

/** The open conditions of hosts as of the last sweep. */
interface AlertState {
  hosts: { host: Host; conditions: AlertCondition[] }[]
  /** Epoch milliseconds of the last sweep; null before the first. */
  sweptAtMs: number | null
  truncated: boolean
}

/** Returns the client of the alerts. Throws `unavailable` where no service evaluates rules. */
export const requireAlerts = ({ alerts }: ToolContext): NonNullable<ToolContext['alerts']> => {
  if (alerts) return alerts
  throw new ServiceError('unavailable', 'alerts are not evaluated here; use analyze_performance')
}

/** Reads the open conditions of the given hosts. */
export const readAlertState = async (context: ToolContext, hosts: readonly Host[]): Promise<AlertState> => {
  const [only] = hosts
  const hostKey = hosts.length === 1 && only ? only.key : undefined
  const state = await requireAlerts(context).alertState({ hostKey, figuresOnly: false }, context.call)
  const conditionsOf = new Map(state.hosts.map(({ hostKey: key, conditions }) => [key, conditions]))
  const { sweptAtMs, truncated } = state
  return { hosts: hosts.map((host) => ({ host, conditions: conditionsOf.get(host.key) ?? [] })), sweptAtMs, truncated }
}

/** Orders conditions: firing ones first, then critical ones, then the oldest. */
export const compareConditions = (one: AlertCondition, other: AlertCondition): number =>
  rank(other) - rank(one) || one.sinceMs - other.sinceMs

const rank = ({ phase, severity }: AlertCondition): number =>
  (phase === 'firing' ? 2 : 0) + (severity === 'critical' ? 1 : 0)
