import type { GoodRequest } from './auth-requests.ts'

const base = '/api/v1/health'
const window = { hostId: 1, reason: 'upgrade', startsAt: '2026-06-01T22:00:00Z', endsAt: '2026-06-02T02:00:00+02:00' }
const hours = { days: [5, 6], start: '22:00', end: '07:00', timezone: 'Europe/Berlin', severityCap: null }
const route = { matchRule: 'disk-*', target: 'webhook', minSeverity: 'critical' }
const rule = { name: 'Many queries', metric: 'running-queries', operator: '>', warning: 50, critical: 100 }

/** A good request of every route about alerts. */
export const alertingRequests: Readonly<Record<string, GoodRequest>> = {
  [`GET ${base}/checks`]: { url: `${base}/checks?hostId=1` },
  [`GET ${base}/snapshot`]: { url: `${base}/snapshot` },
  [`GET ${base}/alert-state`]: { url: `${base}/alert-state?hostId=1` },
  [`GET ${base}/history`]: { url: `${base}/history?hostId=1&day=2026-06-01&limit=5` },
  [`POST ${base}/actions`]: { url: `${base}/actions`, body: { hostId: 1, ruleId: 'replication-lag' } },
  [`GET ${base}/ack`]: { url: `${base}/ack` },
  [`POST ${base}/ack`]: {
    url: `${base}/ack`,
    body: { hostId: 1, ruleId: 'disk-usage', duration: '4h', note: 'on it' },
  },
  [`DELETE ${base}/ack`]: { url: `${base}/ack?hostId=1&ruleId=disk-usage` },
  [`POST ${base}/dismiss`]: { url: `${base}/dismiss`, body: { hostId: 1, ruleId: 'disk-usage', episode: 'e1' } },
  [`DELETE ${base}/dismiss`]: { url: `${base}/dismiss?hostId=1&ruleId=disk-usage` },
  [`GET ${base}/alert-config`]: { url: `${base}/alert-config` },
  [`PUT ${base}/alert-config`]: { url: `${base}/alert-config`, body: { enabled: true, cooldownMinutes: 0 } },
  [`DELETE ${base}/alert-config`]: { url: `${base}/alert-config` },
  [`PUT ${base}/alert-config/channels/{channel}`]: {
    url: `${base}/alert-config/channels/webhook`,
    body: { enabled: false },
  },
  [`DELETE ${base}/alert-config/channels/{channel}`]: { url: `${base}/alert-config/channels/webhook` },
  [`GET ${base}/alert-digest`]: { url: `${base}/alert-digest` },
  [`PUT ${base}/alert-digest`]: { url: `${base}/alert-digest`, body: { enabled: true, windowMinutes: 30 } },
  [`DELETE ${base}/alert-digest`]: { url: `${base}/alert-digest` },
  [`GET ${base}/check-alerts`]: { url: `${base}/check-alerts` },
  [`PUT ${base}/check-alerts/{checkId}`]: {
    url: `${base}/check-alerts/disk-usage`,
    body: { warning: 70, breaches: 3 },
  },
  [`DELETE ${base}/check-alerts/{checkId}`]: { url: `${base}/check-alerts/disk-usage` },
  [`GET ${base}/custom-rules`]: { url: `${base}/custom-rules?catalog=1` },
  [`POST ${base}/custom-rules`]: { url: `${base}/custom-rules`, body: rule },
  [`PUT ${base}/custom-rules/{id}`]: { url: `${base}/custom-rules/custom:many-queries-0a1b2c3d`, body: rule },
  [`DELETE ${base}/custom-rules/{id}`]: { url: `${base}/custom-rules/custom%3Amany-queries-0a1b2c3d` },
  [`POST ${base}/custom-rules/test`]: { url: `${base}/custom-rules/test`, body: { ...rule, hostId: 1 } },
  [`GET ${base}/maintenance-windows`]: { url: `${base}/maintenance-windows` },
  [`POST ${base}/maintenance-windows`]: { url: `${base}/maintenance-windows`, body: window },
  [`PUT ${base}/maintenance-windows/{id}`]: { url: `${base}/maintenance-windows/upgrade`, body: window },
  [`DELETE ${base}/maintenance-windows/{id}`]: { url: `${base}/maintenance-windows/upgrade` },
  [`GET ${base}/quiet-hours`]: { url: `${base}/quiet-hours` },
  [`POST ${base}/quiet-hours`]: { url: `${base}/quiet-hours`, body: { id: 'weekend', ...hours } },
  [`PUT ${base}/quiet-hours/{id}`]: { url: `${base}/quiet-hours/night`, body: hours },
  [`DELETE ${base}/quiet-hours/{id}`]: { url: `${base}/quiet-hours/night` },
  [`GET ${base}/routes`]: { url: `${base}/routes` },
  [`POST ${base}/routes`]: { url: `${base}/routes`, body: route },
  [`PUT ${base}/routes/{id}`]: { url: `${base}/routes/disks`, body: route },
  [`DELETE ${base}/routes/{id}`]: { url: `${base}/routes/disks` },
}
