import type { RouteData } from '#proto/http/route.ts'
import type { Client } from '../client/client.ts'
import { createUsageError } from './exit-codes.ts'

/** A condition that is not ok. */
export type Condition = RouteData<'GET /api/v1/health/alert-state'>[number]

/** Returns the conditions of all hosts, the worst and oldest first. */
export const loadConditions = async (
  client: Client,
): Promise<{ conditions: Condition[]; sweptAtMs: number | null }> => {
  const { data, metadata } = await client.call('GET /api/v1/health/alert-state')
  const conditions = data.toSorted((one, other) => rankOf(one) - rankOf(other) || one.sinceMs - other.sinceMs)
  return { conditions, sweptAtMs: metadata.sweptAtMs }
}

const phases = ['firing', 'pending', 'cleared']

const rankOf = ({ severity, phase }: Condition): number => phases.indexOf(phase) * 2 + (severity === 'critical' ? 0 : 1)

/**
 * Returns the condition of a rule or with an episode id. The host is needed only if the rule fires on several hosts.
 */
export const findCondition = (conditions: readonly Condition[], rule: string, host: string | undefined): Condition => {
  const isOnHost = ({ host: name, hostId }: Condition) =>
    host === undefined || name === host || (hostId !== null && String(hostId) === host)
  const found = conditions.filter((each) => (each.ruleId === rule || each.episode === rule) && isOnHost(each))
  const [first, ...more] = found
  if (first && more.length === 0) return first
  if (first) {
    const hosts = found.map((each) => `"${each.host}"`).join(', ')
    throw createUsageError(`"${rule}" is firing on several hosts; choose one with --host: ${hosts}`)
  }
  const known = [...new Set(conditions.map(({ ruleId }) => `"${ruleId}"`))]
  const remedy = known.length === 0 ? 'no alerts are pending or firing' : `pending or firing: ${known.join(', ')}`
  throw createUsageError(`no alert of rule "${rule}"${host === undefined ? '' : ` on host "${host}"`}; ${remedy}`)
}
