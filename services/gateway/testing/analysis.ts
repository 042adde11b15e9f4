import type { ServiceHandlers, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Explanation } from '#proto/explain.ts'
import type { QueryPatternSummary, QueryPatternDetail } from '#proto/fingerprints.ts'
import type { QueryDetail } from '#proto/query-detail.ts'
import type { Rule, ruleMethods } from '#proto/rules.ts'

export const sampleFingerprint: QueryPatternSummary = {
  hash: '18446744073709551615',
  query: 'SELECT ?',
  kind: 'Select',
  calls: 2,
  totalMs: 30,
  share: 0.5,
  averageMs: 15,
  p50Ms: 15,
  p95Ms: 19.5,
  p99Ms: 19.9,
  longestMs: 20,
  errors: 1,
  cpuMs: 2.5,
  readRows: 1,
  readBytes: 8,
  writtenRows: 0,
  writtenBytes: 0,
  resultRows: 1,
  averageMemoryBytes: 10.5,
  peakMemoryBytes: 12,
  users: ['ada'],
  userCount: 1,
  tables: ['shop.orders'],
  firstSeenMs: 1_000,
  lastSeenMs: 2_000,
}

export const sampleFingerprintDetail: QueryPatternDetail = {
  summary: sampleFingerprint,
  trend: [],
  executions: [],
  slowest: [],
  largestResult: [],
  errored: [],
  errors: [{ code: 47, name: 'UNKNOWN_IDENTIFIER', count: 1, lastSeenMs: 2_000, message: 'Code: 47' }],
}

const none = { rows: [], truncated: false, unavailable: null }

export const sampleQueryDetail: QueryDetail = {
  logSettings: [],
  summary: {
    queryId: 'q1',
    status: 'finished',
    executions: 1,
    startedMs: 1_000,
    endedMs: 1_010,
    durationMs: 10,
    kind: 'Select',
    query: 'SELECT 1',
    fingerprint: sampleFingerprint.hash,
    user: 'ada',
    initialUser: 'ada',
    isInitial: true,
    initialQueryId: 'q1',
    address: '127.0.0.1',
    client: 'curl',
    logComment: '',
    currentDatabase: 'default',
    databases: [],
    tables: [],
    columns: [],
    projections: [],
    functions: [],
    memoryBytes: 1,
    cpuMs: 1,
    readRows: 1,
    readBytes: 1,
    writtenRows: 0,
    writtenBytes: 0,
    resultRows: 1,
    resultBytes: 1,
    threads: 1,
    exceptionCode: 0,
    exception: '',
    stackTrace: '',
  },
  settings: [{ name: 'max_threads', value: '2' }],
  profileEvents: [{ name: 'SelectedRows', value: 1 }],
  threads: none,
  views: none,
  processors: none,
  children: { ...none, queriedHosts: ['analytics'], unreachableHosts: [] },
}

export const sampleExplanation: Explanation = {
  mode: 'plan',
  query: 'SELECT 1',
  text: '[]',
  tree: [{ name: 'Expression', description: null, details: {}, children: [] }],
  estimates: null,
}

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

/** One rule and one metric, without a breach on any host. */
export const fakeRules = {
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
  checkRuleStatement: async () => ({}),
  measureStatements: async () => ({ readings: [] }),
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
    throw new ServiceError('not-found', `unknown rule "${id}"; did you mean "${rule.id}"?`, {
      details: { parameter: 'ruleId', nearest: [rule.id] },
    })
  },
} satisfies Partial<ServiceHandlers<Service<typeof ruleMethods>>>

const untroubled = (id: string) => {
  return { id, value: 0, reason: null, samples: null, warning: null, critical: null, offenders: [] }
}
