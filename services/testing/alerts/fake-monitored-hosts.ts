import { query } from '#proto/query.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Host } from '#proto/host.ts'
import type { Rule, RuleMetric } from '#proto/rules.ts'
import type { Bus, ServedContract } from '#shared/bus/bus.ts'
import { createTestReading, createTestRule } from '../../alert-dispatcher/testing/simulated-host.ts'
import { fakeQuery } from '../../gateway/testing/query.ts'

/** Monitored hosts with the rule values that a test sets. */
export interface FakeMonitoredHosts {
  /** Host names in the order of the host list. */
  names: string[]
  /** Groups of hosts by name. */
  groups?: Record<string, string>
  /** Values by `host/rule`; the default is 0, and null means no data. */
  values: Record<string, number | null>
  /** Rules in addition to the default ones. */
  rules?: readonly Rule[]
  /** Metrics for custom rules. Default: none. */
  metrics?: readonly RuleMetric[]
  /** Called when a host is evaluated, for example to delay it. */
  onMeasure?: ((hostKey: string, rules: readonly string[]) => Promise<void>) | undefined
}

const rules = [
  createTestRule({ id: 'host-unreachable', thresholds: { warning: null, critical: 1, below: false }, unit: 'none' }),
  createTestRule({ id: 'disk' }),
  createTestRule({ id: 'memory' }),
]

/** Serves a fake `query` service on the bus that returns the values of the test. */
export const serveFakeQuery = (bus: Bus, watched: FakeMonitoredHosts): Promise<ServedContract> =>
  bus.serve(query, {
    ...fakeQuery,
    rules: async () => ({ rules: [...rules, ...(watched.rules ?? [])], metrics: [...(watched.metrics ?? [])] }),
    hosts: async () => watched.names.map((key, id) => hostOf(key, id, watched.groups?.[key] ?? null)),
    checkRuleStatement: async ({ sql }) => {
      if (/^(SELECT|WITH)\b/i.test(sql)) return {}
      const details = { parameter: 'query', reason: 'first-word' }
      throw new ServiceError('invalid', 'query: the statement must begin with SELECT', { details })
    },
    measureStatements: async ({ hostKey, statements }) => ({
      readings: statements.map(({ id }) => createTestReading(id, watched.values[`${hostKey}/${id}`] ?? null)),
    }),
    evaluateRules: async ({ hostKey, rules, metrics }) => {
      await watched.onMeasure?.(hostKey, rules)
      const valueOf = (rule: string) => {
        const value = watched.values[`${hostKey}/${rule}`]
        return value === undefined ? 0 : value
      }
      const isUp = valueOf('host-unreachable') === 0
      return {
        readings: rules.map((id) => createTestReading(id, isUp || id === 'host-unreachable' ? valueOf(id) : null)),
        metrics: metrics.map((id) => createTestReading(id, isUp ? valueOf(id) : null)),
        uptimeSeconds: isUp ? 3_600 : null,
        version: isUp ? '26.3.1' : null,
        statements: 1,
        tookMs: 1,
      }
    },
  })

const hostOf = (key: string, id: number, group: string | null): Host => ({
  id,
  key,
  name: key,
  host: `${key}:8123`,
  group,
  tags: [],
})
