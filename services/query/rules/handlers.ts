import type { Handlers, Service } from '#proto/contract.ts'
import type { Rule, RuleMetric, ruleMethods } from '#proto/rules.ts'
import type { WithConnections } from '../connections/connections.ts'
import type { LoadedMetric, LoadedRule } from '../definitions/load.ts'
import type { Parts } from '../handlers/parts.ts'
import { diagnose } from './diagnose.ts'
import type { WithStore } from './earlier.ts'
import { evaluate } from './evaluate.ts'
import { measurablesOf } from './measurables.ts'
import { openPlans } from './plan.ts'
import { openTroubles } from './troubles.ts'
import type { WithReplicationService } from '../repldb/handlers.ts'
import { isOfReplicationService } from './evaluators/replication-service.ts'

type Given = Parts & WithConnections & WithStore & WithReplicationService

/** What rules are, and what they measure. */
export const ruleHandlers = (parts: Given): Handlers<Service<typeof ruleMethods>> => {
  const place = {
    ...parts,
    net: parts.connections.net,
    troubles: openTroubles(parts.clock.elapsedMs),
    planFor: openPlans(),
    measurables: measurablesOf(parts.definitions),
  }
  // Where there is no replication service nobody should wonder about its rules.
  const isKnown = (rule: LoadedRule) => parts.replicationService.isConfigured() || !isOfReplicationService(rule)
  return {
    rules: async () => ({
      rules: parts.definitions.rules.filter(isKnown).map(ruleInfo),
      metrics: parts.definitions.metrics.map(metricInfo),
    }),
    evaluateRules: (asked, call) => evaluate(place, asked, call),
    diagnoseRule: (asked, call) => diagnose(parts, asked, call),
  }
}

const ruleInfo = (rule: LoadedRule): Rule => ({
  id: rule.name,
  title: rule.title,
  doc: rule.doc,
  category: rule.topic,
  unit: rule.unit,
  measure: rule.measure,
  thresholds: rule.thresholds,
  clearRatio: rule.clearRatio,
  minimumSamples: rule.minimumSamples ?? null,
  breaches: rule.breaches ?? null,
  clears: rule.clears ?? null,
  everySweeps: rule.everySweeps,
  enabled: rule.enabled,
  once: rule.once,
  allOf: rule.allOf ?? [],
  runbook: rule.runbook,
  diagnosed: rule.diagnostic !== undefined,
})

const metricInfo = ({ name, topic, title, doc, unit }: LoadedMetric): RuleMetric => ({
  id: name,
  category: topic,
  title,
  doc,
  unit,
})
