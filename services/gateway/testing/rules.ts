import type { Handlers, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Rule, ruleMethods } from '#proto/rules.ts'

const rule: Rule = {
  id: 'replication-lag',
  title: 'Replication lag',
  doc: 'How far the slowest replica is behind.',
  category: 'replication',
  unit: 'seconds',
  measure: 'gauge',
  thresholds: { warning: 300, critical: 1_800, below: false },
  clearRatio: 0.9,
  minimumSamples: null,
  breaches: null,
  clears: null,
  everySweeps: 1,
  enabled: true,
  once: false,
  allOf: [],
  runbook: 'Look at the replication queue of the table.',
  diagnosed: true,
}

/** One rule and one metric, which no host breaches. */
export const fakeRules: Handlers<Service<typeof ruleMethods>> = {
  rules: async () => ({
    rules: [rule],
    metrics: [
      {
        id: 'running-queries',
        title: 'Running queries',
        doc: 'Queries that run now.',
        category: 'queries',
        unit: 'count',
      },
    ],
  }),
  evaluateRules: async ({ rules, metrics }) => ({
    readings: rules.map(untroubled),
    metrics: metrics.map(untroubled),
    uptimeSeconds: 3_600,
    version: '26.3.1',
    statements: 1,
    tookMs: 3,
  }),
  diagnoseRule: async ({ rule: id }) => {
    if (id === rule.id) return { columns: ['table', 'delay'], rows: [['shop.orders', 5]], unavailable: null }
    throw new ServiceError('not-found', `no such rule: ${id}; did you mean ${rule.id}?`, {
      details: { parameter: 'ruleId', nearest: [rule.id] },
    })
  },
}

const untroubled = (id: string) => {
  return { id, value: 0, reason: null, samples: null, warning: null, critical: null, offenders: [] }
}
