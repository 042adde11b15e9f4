import { fileURLToPath } from 'node:url'
import type { RuleReading } from '#proto/rules.ts'
import { systemClock } from '#shared/time/clock.ts'
import { evaluateDueRules, type RuleEvaluation } from '../../alert-dispatcher/conditions/evaluate.ts'
import { selectMonitoredRules } from '../../alert-dispatcher/conditions/monitored-rules.ts'
import { createEmptyLayer } from '../../alert-dispatcher/policy/layers/layer.ts'
import { resolvePolicy } from '../../alert-dispatcher/policy/layers/resolve.ts'
import type { HostCapabilities } from '../../query/clickhouse/capabilities.ts'
import type { DatabaseClient } from '../../query/clickhouse/client.ts'
import type { QueryContext } from '../../query/clickhouse/transport.ts'
import { loadDefinitions } from '../../query/definitions/load.ts'
import type { MonitoredHost } from '../../query/hosts/host-list.ts'
import { toRule } from '../../query/rules/handlers.ts'
import { toMeasuredDefinitions } from '../../query/rules/measured-definitions.ts'
import { measureRules } from '../../query/rules/measure.ts'
import { openPlanner } from '../../query/rules/plan.ts'
import { openRuleFailureRegistry } from '../../query/rules/rule-failures.ts'
import { formatUnit } from '../output/format.ts'
import type { Finding } from './finding.ts'

/** The rules that say most about a host that is measured once: gauges that need no earlier measurement. */
export const doctorRules = [
  'disk-usage',
  'system-log-size',
  'parts-pressure',
  'partitions-per-table',
  'total-parts',
  'inactive-parts',
  'broken-detached-parts',
  'stuck-merges',
  'merge-failing',
  'failed-mutations',
  'mutation-old',
  'memory-tracking-pct',
  'load-per-core',
  'connections',
  'longest-query',
  'query-fail-rate',
  'readonly-replicas',
  'replication-lag',
  'dictionary-failed',
  'server-warnings',
] as const

interface HealthDeps {
  client: DatabaseClient
  host: MonitoredHost
  capabilities: HostCapabilities
  context: QueryContext
}

const definitionsDirectory = fileURLToPath(new URL('../../../charts', import.meta.url))

/** Measures the rules of `doctorRules` once, with the statements and thresholds that sweeps use. */
export const checkHealth = async ({ client, host, capabilities, context }: HealthDeps): Promise<Finding[]> => {
  const { rules: loaded } = await loadDefinitions(definitionsDirectory)
  const chosen = doctorRules.flatMap((name) => loaded.find((rule) => rule.name === name) ?? [])
  const measurables = toMeasuredDefinitions({ rules: chosen, metrics: [] })
  const definitions = [...measurables.rules.values()]
  const measured = await measureRules(
    {
      env: {},
      client,
      host,
      troubles: openRuleFailureRegistry(systemClock.elapsedMs),
      planFor: openPlanner(),
      clock: systemClock,
      run: (statement) => client.run(host, statement, context),
    },
    capabilities,
    definitions.flatMap(({ measurable }) => measurable ?? []),
  )
  const readings = new Map(
    definitions.flatMap(({ id, key }): [string, RuleReading][] => {
      const measurement = measured.get(key)
      return measurement ? [[id, { id, ...measurement }]] : []
    }),
  )
  const policy = resolvePolicy([createEmptyLayer('file')], {}, () => [])
  const monitored = selectMonitoredRules({ rules: chosen.map(toRule), metrics: [] }, policy)
  return evaluateDueRules(monitored, { readings, metrics: new Map(), uptimeSeconds: null }, undefined).map(toFinding)
}

const toFinding = ({ rule, status, value, threshold, offenders, reason }: RuleEvaluation): Finding => {
  const facts = { check: rule.id, title: rule.title }
  if (status === 'unknown') return { ...facts, status: 'no data', detail: reason ?? 'no data', remedy: null }
  const measured = formatUnit(value, rule.unit)
  if (status === 'ok') return { ...facts, status, detail: measured, remedy: null }
  const objects = offenders.length > 0 ? `: ${offenders.join(', ')}` : ''
  return {
    ...facts,
    status,
    detail: `${measured} (threshold ${formatUnit(threshold, rule.unit)})${objects}`,
    remedy: rule.runbook,
  }
}
