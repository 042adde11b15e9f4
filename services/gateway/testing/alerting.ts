import type { alertingMethods } from '#proto/alerting.ts'
import type { AlertCheck, AlertCondition, AlertPolicy } from '#proto/alerting.ts'
import type { AlertHistoryEntry, Silence } from '#proto/alert-history.ts'
import type { ServiceHandlers, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { fakeTransitKey, decryptTransitSecret } from './transit-key.ts'

const condition: AlertCondition = {
  ruleId: 'disk-usage',
  episode: 'e1',
  title: 'Disk full',
  unit: 'percent',
  phase: 'firing',
  severity: 'critical',
  value: 97,
  threshold: 95,
  offenders: ['default'],
  sinceMs: 1_000,
  evaluatedAtMs: 2_000,
  lastNotifiedAtMs: 1_000,
  held: null,
  acknowledged: null,
  dismissed: null,
}

const check: AlertCheck = {
  ruleId: 'disk-usage',
  title: 'Disk full',
  doc: 'How full the fullest disk is.',
  category: 'storage',
  unit: 'percent',
  isCustom: false,
  status: 'critical',
  value: 97,
  reason: null,
  atMs: 2_000,
  warning: 80,
  critical: 95,
  below: false,
  runbook: '',
  diagnosed: true,
}

const line: AlertHistoryEntry = {
  id: 'e1:0',
  kind: 'fire',
  hostKey: 'logs',
  ruleId: 'disk-usage',
  episode: 'e1',
  severity: 'critical',
  title: 'Disk full',
  value: 97,
  threshold: 95,
  sinceMs: 1_000,
  atMs: 1_000,
  reason: 'it began',
}

const silence: Silence = {
  kind: 'ack',
  episode: 'e1',
  hostKey: 'logs',
  ruleId: 'disk-usage',
  by: 'ada',
  note: 'on it',
  atMs: 2_000,
  untilMs: null,
}

const inDatabase = { source: 'database' }
const policy: AlertPolicy = {
  persistent: true,
  general: {
    enabled: { value: true, ...inDatabase },
    minSeverity: { value: 'warning', source: 'default' },
    cooldownMinutes: { value: 60, source: 'environment' },
    breaches: { value: 1, source: 'default' },
    clears: { value: 2, source: 'file' },
    sweepsEnabled: { value: true, source: 'environment' },
    sweepMinutes: { value: 5, ...inDatabase },
  },
  digestMinutes: { value: 0, source: 'default' },
  channels: [
    {
      channel: 'webhook',
      configured: true,
      enabled: true,
      minSeverity: null,
      settings: [],
      problem: null,
      source: 'environment',
    },
  ],
  webhookTargets: ['team'],
  targets: [
    {
      id: 'cwt-1',
      name: 'team',
      enabled: true,
      format: 'auto',
      minSeverity: null,
      url: '••••abcd',
      headers: ['Authorization'],
      ...inDatabase,
    },
  ],
  rules: [{ ruleId: 'disk-usage', warning: 70, sources: { warning: 'database' } }],
  customRules: [
    {
      id: 'custom:many-queries-0a1b2c3d',
      name: 'Many queries',
      metric: 'running-queries',
      operator: '>',
      warning: 50,
      critical: null,
      enabled: true,
      ...inDatabase,
    },
  ],
  sqlRules: [
    {
      id: 'sql:late-orders-0a1b2c3d',
      name: 'Late orders',
      sql: 'SELECT count() FROM shop.orders',
      unit: 'rows',
      operator: '>',
      warning: 5,
      critical: 50,
      summary: 'Orders are late.',
      matchHost: '*',
      matchGroup: 'shop',
      hostThresholds: [{ matchHost: 'one', matchGroup: '*', warning: 10 }],
      enabled: true,
      ...inDatabase,
    },
  ],
  maintenanceWindows: [
    { id: 'upgrade', hostKey: 'logs', reason: 'upgrade', startsAtMs: 0, endsAtMs: 1_000, ...inDatabase },
    { id: 'gone', hostKey: 'no-longer-listed', reason: '', startsAtMs: 0, endsAtMs: 1_000, source: 'file' },
  ],
  quietHours: [
    {
      id: 'night',
      days: [1, 2],
      start: '22:00',
      end: '07:00',
      timezone: 'Europe/Berlin',
      severityCap: 'critical',
      ...inDatabase,
    },
  ],
  routes: [
    {
      id: 'disks',
      matchRule: 'disk-*',
      matchHost: '*',
      matchGroup: '*',
      matchTag: '*',
      matchSeverity: '*',
      last: false,
      target: 'webhook',
      enabled: true,
      minSeverity: null,
      problem: null,
      ...inDatabase,
    },
  ],
}

const requireDiskUsage = (ruleId: string): void => {
  if (ruleId !== condition.ruleId) {
    throw new ServiceError('not-found', `unknown active condition "${ruleId}"`, {
      details: { parameter: 'ruleId', nearest: [condition.ruleId] },
    })
  }
}

/** One condition that fires on the second host, and one alert configuration of each kind. */
export const fakeAlerting = {
  alertState: async ({ hostKey = 'logs' }) => ({
    hosts: [
      {
        hostKey: 'analytics',
        failed: false,
        firing: 0,
        worst: null,
        worstTitle: null,
        worstSinceMs: null,
        unknown: 1,
        conditions: [],
      },
      {
        hostKey: 'logs',
        failed: false,
        firing: 1,
        worst: 'critical' as const,
        worstTitle: 'Disk usage',
        worstSinceMs: 1_000,
        unknown: 0,
        conditions: [condition],
      },
    ].filter((host) => host.hostKey === hostKey || hostKey === 'logs'),
    sweptAtMs: 2_000,
    isSweeping: false,
    truncated: false,
  }),
  alertChecks: async () => [check],
  alertHistory: async () => [line],
  silences: async () => [silence],
  silence: async ({ kind, ruleId, minutes, note }) => {
    requireDiskUsage(ruleId)
    return { ...silence, kind, note, untilMs: minutes === null ? null : silence.atMs + minutes * 60_000 }
  },
  unsilence: async ({ kind, ruleId }) => {
    requireDiskUsage(ruleId)
    return { ...silence, kind }
  },
  alertPolicy: async () => policy,
  alertSecretsKey: async () => fakeTransitKey,
  updateAlertConfig: async ({ update, encrypted }) => {
    // Secrets must be encrypted.
    if ('url' in update.value || 'settings' in update.value) throw new ServiceError('internal', 'secrets in clear text')
    if (encrypted !== undefined) await decryptTransitSecret(encrypted)
    return policy
  },
  deleteAlertConfig: async () => policy,
  testCustomRule: async () => ({ status: 'warning', value: 51, unit: 'count', reason: null }),
  testSqlRule: async () => ({
    status: 'critical',
    value: 51,
    unit: 'rows',
    reason: null,
    warning: 5,
    critical: 50,
    offenders: ['shop.orders'],
  }),
} satisfies Partial<ServiceHandlers<Service<typeof alertingMethods>>>
