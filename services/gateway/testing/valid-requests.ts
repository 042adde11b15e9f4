import { ApiKeyResponse, DeviceCodeResponse } from '#proto/http/auth.ts'
import { UserConnectionResponse } from '#proto/http/connections.ts'

/** A request to a route. */
export interface ValidRequest {
  url: string
  body?: unknown
  cookie?: string
  bearer?: string
  /** A body in another format than JSON, with its headers. */
  raw?: string
  headers?: Readonly<Record<string, string>>
}

/** Sends a request and returns the JSON of its response. */
type PostJson = (request: ValidRequest) => Promise<unknown>

const keys = '/api/v1/auth/api-key'
const code = '/api/v1/auth/device/code'
const grantType = 'urn:ietf:params:oauth:grant-type:device_code'

/**
 * Returns valid requests for the routes of API keys and device login, by route. Some are built from the responses to
 * earlier requests. Device login must be enabled and the caller authenticated.
 */
export const createAuthRequests = (post: PostJson, secret: string): Record<string, () => Promise<ValidRequest>> => {
  const begin = async () => DeviceCodeResponse.parse(await post({ url: code, body: {} }))
  const approved = async () => {
    const codes = await begin()
    await post({ url: '/api/v1/auth/device/approve', body: { user_code: codes.user_code } })
    return { grant_type: grantType, device_code: codes.device_code }
  }
  const decide = (url: string) => async () => ({ url, body: { user_code: (await begin()).user_code } })

  return {
    'GET /api/v1/auth/cli': async () => ({ url: '/api/v1/auth/cli' }),
    'POST /api/v1/auth/api-key': async () => ({ url: keys, body: { label: 'ci' }, bearer: secret }),
    'GET /api/v1/auth/api-keys': async () => ({ url: `${keys}s`, bearer: secret }),
    'DELETE /api/v1/auth/api-keys/{id}': async () => {
      const issued = ApiKeyResponse.parse(await post({ url: keys, body: { label: 'ci' }, bearer: secret }))
      return { url: `${keys}s/${issued.data.id}`, bearer: secret }
    },
    'POST /auth/device/code': async () => ({ url: '/auth/device/code', body: {} }),
    'POST /api/v1/auth/device/code': async () => ({ url: code, body: {} }),
    'POST /auth/token': async () => ({ url: '/auth/token', body: await approved() }),
    'POST /api/v1/auth/token': async () => ({ url: '/api/v1/auth/token', body: await approved() }),
    'POST /api/v1/auth/device/approve': decide('/api/v1/auth/device/approve'),
    'POST /api/v1/auth/device/deny': decide('/api/v1/auth/device/deny'),
    'GET /api/v1/auth/device/status': async () => ({
      url: `/api/v1/auth/device/status?user_code=${(await begin()).user_code}`,
    }),
    'GET /auth.md': async () => ({ url: '/auth.md' }),
    'GET /.well-known/oauth-protected-resource': async () => ({ url: '/.well-known/oauth-protected-resource' }),
    'GET /.well-known/oauth-protected-resource/api/mcp': async () => ({
      url: '/.well-known/oauth-protected-resource/api/mcp',
    }),
    'GET /.well-known/api-catalog': async () => ({ url: '/.well-known/api-catalog' }),
  }
}

const target = { url: 'https://clickhouse.example.com:8443', user: 'ada', password: 'secret' }
const kept = '/api/v1/user-connections'

/** Returns valid requests for the routes of user-supplied connections. They require sign-in and enabled saving. */
export const createConnectionRequests = (post: PostJson): Record<string, () => Promise<ValidRequest>> => {
  const add = { url: kept, body: { ...target, name: 'mine' } }
  const added = async () => `${kept}/${UserConnectionResponse.parse(await post(add)).data.id}`
  return {
    'POST /api/v1/browser-connections/test': async () => ({ url: '/api/v1/browser-connections/test', body: target }),
    'POST /api/v1/browser-connections/sessions': async () => ({
      url: '/api/v1/browser-connections/sessions',
      body: target,
    }),
    'GET /api/v1/user-connections': async () => ({ url: kept }),
    'POST /api/v1/user-connections': async () => add,
    'PUT /api/v1/user-connections/{id}': async () => ({ url: await added(), body: { name: 'renamed' } }),
    'DELETE /api/v1/user-connections/{id}': async () => ({ url: await added() }),
  }
}

const base = '/api/v1/health'
const window = { hostId: 1, reason: 'upgrade', startsAt: '2026-06-01T22:00:00Z', endsAt: '2026-06-02T02:00:00+02:00' }
const hours = { days: [5, 6], start: '22:00', end: '07:00', timezone: 'Europe/Berlin', severityCap: null }
const route = { matchRule: 'disk-*', target: 'webhook', minSeverity: 'critical' }
const sqlRule = { name: 'Late orders', sql: 'SELECT count() FROM shop.orders', operator: '>', warning: 5 }
const rule = { name: 'Many queries', metric: 'running-queries', operator: '>', warning: 50, critical: 100 }

/** A valid request for every route of alerts. */
export const alertingRequests: Readonly<Record<string, ValidRequest>> = {
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
  [`POST ${base}/sql-rules`]: { url: `${base}/sql-rules`, body: sqlRule },
  [`PUT ${base}/sql-rules/{id}`]: { url: `${base}/sql-rules/sql:late-orders-0a1b2c3d`, body: sqlRule },
  [`DELETE ${base}/sql-rules/{id}`]: { url: `${base}/sql-rules/sql%3Alate-orders-0a1b2c3d` },
  [`POST ${base}/sql-rules/test`]: { url: `${base}/sql-rules/test`, body: { ...sqlRule, hostId: 1 } },
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
