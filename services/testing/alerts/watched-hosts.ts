import { query } from '#proto/query.ts'
import type { Host } from '#proto/host.ts'
import type { Rule, RuleMetric } from '#proto/rules.ts'
import type { Bus, Serving } from '#shared/bus/bus.ts'
import { plainReading, plainRule } from '../../alert-dispatcher/testing/story.ts'
import { fakeQuery } from '../../gateway/testing/query.ts'

/** Hosts whose figures a test decides. */
export interface WatchedHosts {
  /** In the order of the host list. */
  names: string[]
  /** By `host/rule`; what is not named is 0, and null could not be told. */
  values: Record<string, number | null>
  /** Rules beside those that every test has. */
  rules?: readonly Rule[]
  /** Metrics for rules of operators; there are none otherwise. */
  metrics?: readonly RuleMetric[]
  /** Runs whenever a host is measured, such as to hold it there. */
  onMeasure?: ((hostKey: string, rules: readonly string[]) => Promise<void>) | undefined
}

const rules = [
  plainRule({ id: 'host-unreachable', thresholds: { warning: null, critical: 1, below: false }, unit: 'none' }),
  plainRule({ id: 'disk' }),
  plainRule({ id: 'memory' }),
]

/** Serves `query` of these hosts: what it measures is what the test says. */
export const serveHosts = (bus: Bus, watched: WatchedHosts): Promise<Serving> =>
  bus.serve(query, {
    ...fakeQuery,
    rules: async () => ({ rules: [...rules, ...(watched.rules ?? [])], metrics: [...(watched.metrics ?? [])] }),
    hosts: async () => watched.names.map(hostOf),
    evaluateRules: async ({ hostKey, rules: asked, metrics }) => {
      await watched.onMeasure?.(hostKey, asked)
      const valueOf = (rule: string) => {
        const value = watched.values[`${hostKey}/${rule}`]
        return value === undefined ? 0 : value
      }
      const isUp = valueOf('host-unreachable') === 0
      return {
        readings: asked.map((id) => plainReading(id, isUp || id === 'host-unreachable' ? valueOf(id) : null)),
        metrics: metrics.map((id) => plainReading(id, isUp ? valueOf(id) : null)),
        uptimeSeconds: isUp ? 3_600 : null,
        version: isUp ? '26.3.1' : null,
        statements: 1,
        tookMs: 1,
      }
    },
  })

const hostOf = (key: string, id: number): Host => ({
  id,
  key,
  name: key,
  host: `${key}:8123`,
  group: null,
  tags: [],
})
