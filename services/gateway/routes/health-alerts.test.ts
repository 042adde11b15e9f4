import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CallContext } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { fakeAlerting } from '../testing/alerting.ts'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'

/** Requests received by `alert-dispatcher`. */
let requests: { method: string; input: unknown; subject: string }[] = []
let product: FakeProduct

const recordingHandlers = Object.fromEntries(
  Object.entries(fakeAlerting).map(([method, handle]) => [
    method,
    (input: never, call: CallContext) => {
      requests.push({ method, input, subject: call.identity.subject })
      return handle(input)
    },
  ]),
)

beforeAll(async () => {
  const identify = async () => ({ kind: 'user', subject: 'ada', features: 'all' }) as const
  product = await startFakeProduct({ identify, alerts: recordingHandlers })
})
afterAll(async () => product[Symbol.asyncDispose]())

const send = async (method: string, path: string, body?: unknown, on = product) => {
  requests = []
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${on.url}/api/v1/health/${path}`, { method, headers, body: JSON.stringify(body) })
  return { status: response.status, body: JSON.parse(await response.text()) }
}

describe('hosts in responses', () => {
  it('have position and name, or the key once removed', async () => {
    const { body } = await send('GET', 'maintenance-windows')
    expect(body.data).toEqual([
      expect.objectContaining({ id: 'upgrade', hostId: 1, host: 'logs', startsAt: '1970-01-01T00:00:00.000Z' }),
      expect.objectContaining({ id: 'gone', hostId: null, host: 'no-longer-listed', source: 'file' }),
    ])
  })

  it('have position and name in the snapshot', async () => {
    const { body } = await send('GET', 'snapshot')
    expect(body.data).toEqual([
      {
        hostId: 0,
        host: 'analytics',
        failed: false,
        firing: 0,
        unknown: 1,
        worst: null,
        worstTitle: null,
        worstSinceMs: null,
        worstSince: null,
      },
      {
        hostId: 1,
        host: 'logs',
        failed: false,
        firing: 1,
        unknown: 0,
        worst: 'critical',
        worstTitle: 'Disk usage',
        worstSinceMs: 1_000,
        worstSince: '1970-01-01T00:00:01.000Z',
      },
    ])
    expect(body.metadata).toEqual({
      count: 2,
      sweptAtMs: 2_000,
      sweptAt: '1970-01-01T00:00:02.000Z',
      isSweeping: false,
      inbound: 1,
    })
    expect(requests[0]?.input).toEqual({ figuresOnly: true })
  })

  it('never contain the internal key', async () => {
    for (const path of ['snapshot', 'alert-state', 'history', 'ack', 'maintenance-windows']) {
      expect(JSON.stringify((await send('GET', path)).body)).not.toContain('hostKey')
    }
  })
})

describe('a request reaches alert-dispatcher', () => {
  it('with a day from one UTC midnight to the next', async () => {
    await send('GET', 'history?hostId=1&day=2026-03-29&limit=7')
    const fromMs = Date.UTC(2026, 2, 29)
    expect(requests).toEqual([
      expect.objectContaining({
        method: 'alertHistory',
        input: { hostKey: 'logs', fromMs, toMs: fromMs + 86_400_000, limit: 7 },
      }),
    ])
  })

  it.each([
    ['5m', 5],
    ['15m', 15],
    ['60m', 60],
    ['4h', 240],
    ['recovery', null],
  ])('with an acknowledgement for %s by the signed-in user', async (duration, minutes) => {
    const { status, body } = await send('POST', 'ack', { hostId: 1, ruleId: 'disk-usage', duration })
    expect(status).toBe(200)
    expect(body.data).toMatchObject({ kind: 'ack', hostId: 1, host: 'logs' })
    expect(requests).toEqual([
      {
        method: 'silence',
        subject: 'ada',
        input: { kind: 'ack', hostKey: 'logs', ruleId: 'disk-usage', minutes, note: '' },
      },
    ])
  })

  it('with a dismissal of one episode', async () => {
    await send('POST', 'dismiss', { hostId: 1, ruleId: 'disk-usage', episode: 'e0', minutes: 90 })
    expect(requests[0]?.input).toMatchObject({ kind: 'dismissal', episode: 'e0', minutes: 90 })
  })

  it('with a window in any time zone', async () => {
    const times = { startsAt: '2026-06-01T22:00:00+02:00', endsAt: '2026-06-01T22:00:00Z' }
    const { body } = await send('POST', 'maintenance-windows', { reason: 'upgrade', ...times })
    expect(body.data.id).toMatch(/^maintenance-[0-9a-f]{8}$/)
    expect(requests[0]?.input).toEqual({
      mustBe: 'new',
      isCallerLocal: true,
      update: {
        kind: 'maintenance-window',
        value: {
          id: body.data.id,
          hostKey: null,
          reason: 'upgrade',
          startsAtMs: Date.UTC(2026, 5, 1, 20),
          endsAtMs: Date.UTC(2026, 5, 1, 22),
        },
      },
    })
  })

  it('with a custom rule and an id derived from its name', async () => {
    const rule = { name: '  Viele Abfragen! ', metric: 'running-queries', operator: '>', warning: 50 }
    const { body } = await send('POST', 'custom-rules', rule)
    expect(body.data.id).toMatch(/^custom:viele-abfragen-[0-9a-f]{8}$/)
  })

  it('with an SQL rule, all of its defaults and thresholds of hosts', async () => {
    const hostThresholds = [{ matchGroup: 'cold', critical: null }]
    const rule = { name: 'Late orders', sql: ' SELECT 1 ', operator: '>', warning: 5, hostThresholds }
    const { body } = await send('POST', 'sql-rules', rule)
    expect(body.data.id).toMatch(/^sql:late-orders-[0-9a-f]{8}$/)
    expect(requests[0]?.input).toMatchObject({
      mustBe: 'new',
      update: {
        kind: 'sql-rule',
        value: {
          sql: 'SELECT 1',
          unit: 'none',
          matchHost: '*',
          hostThresholds: [{ matchHost: '*', matchGroup: 'cold', critical: null }],
        },
      },
    })
  })

  it('with a test of an SQL rule on the chosen host', async () => {
    const { body } = await send('POST', 'sql-rules/test', { sql: 'SELECT 1', operator: '>', warning: 5, hostId: 1 })
    expect(requests[0]).toMatchObject({ method: 'testSqlRule', input: { hostKey: 'logs', rule: { sql: 'SELECT 1' } } })
    expect(body).toMatchObject({ data: { status: 'critical', critical: 50 }, metadata: { host: 'logs' } })
  })

  it('with the id of an updated or deleted entry', async () => {
    await send('PUT', 'routes/disks', { target: 'webhook' })
    expect(requests[0]?.input).toMatchObject({ mustBe: 'known', update: { kind: 'route', value: { id: 'disks' } } })
    await send('DELETE', 'quiet-hours/night')
    expect(requests[0]).toMatchObject({
      method: 'deleteAlertConfig',
      input: { key: { kind: 'quiet-hours', id: 'night' } },
    })
  })
})

/** Invalid requests: method, path, body, invalid parameter and part of its message. */
const refused: [method: string, path: string, body: unknown, parameter: string, says: string][] = [
  ['GET', 'checks?hostId=x', undefined, 'hostId', 'whole number'],
  ['GET', 'history?limit=201', undefined, 'limit', 'from 1 to 200'],
  ['GET', 'history?day=yesterday', undefined, 'day', 'must be a day such as'],
  ['GET', 'history?day=2026-13-01', undefined, 'day', 'must be a day such as'],
  ['GET', 'history?days=1', undefined, 'days', 'allowed: hostId, day, limit'],
  ['POST', 'ack', { hostId: 1, ruleId: 'r', duration: '1h' }, 'duration', 'must be one of 5m, 15m, 60m, 4h, recovery'],
  ['POST', 'ack', { hostId: 1, duration: '5m' }, 'ruleId', 'is required'],
  ['POST', 'ack', { ruleId: 'r', duration: '5m' }, 'hostId', 'is required'],
  ['POST', 'ack', { hostId: 1, ruleId: 'r', duration: '5m', by: 'grace' }, 'by', 'is unknown'],
  ['POST', 'dismiss', { hostId: 1, ruleId: 'r', minutes: 0 }, 'minutes', 'at least 1'],
  ['DELETE', 'ack?hostId=1', undefined, 'ruleId', 'is required'],
  ['PUT', 'alert-config', {}, 'the body', 'must have at least one field'],
  ['PUT', 'alert-config', { cooldownMinutes: -1 }, 'cooldownMinutes', 'at least 0'],
  ['PUT', 'alert-config', { minSeverity: 'info' }, 'minSeverity', 'warning, critical'],
  ['PUT', 'alert-config', { webhookUrl: 'https://example.com' }, 'webhookUrl', 'is unknown'],
  ['PUT', 'alert-digest', { enabled: true, windowMinutes: 1_441 }, 'windowMinutes', 'at most 1440'],
  ['PUT', 'check-alerts/disk-usage', { warning: 'many' }, 'warning', 'must be a number'],
  ['PUT', 'check-alerts/disk-usage', { breaches: 0 }, 'breaches', 'at least 1'],
  ['POST', 'custom-rules', { name: '', metric: 'm', operator: '>', warning: 1 }, 'name', 'must not be empty'],
  ['POST', 'custom-rules', { name: 'n', metric: 'm', operator: '=', warning: 1 }, 'operator', 'must be one of >'],
  ['POST', 'custom-rules', { name: 'n', metric: 'm', operator: '>' }, 'warning', 'or critical is required'],
  [
    'POST',
    'custom-rules',
    { name: 'n', metric: 'm', operator: '>', warning: 9, critical: 8 },
    'warning',
    'critical must be at least warning',
  ],
  [
    'POST',
    'custom-rules',
    { name: 'n', metric: 'm', operator: '<', warning: 8, critical: 9 },
    'warning',
    'critical must be at most warning',
  ],
  ['POST', 'custom-rules', { id: 'x', name: 'n', metric: 'm', operator: '>', warning: 9 }, 'id', 'is unknown'],
  ['POST', 'sql-rules', { name: 'n', operator: '>', warning: 9 }, 'sql', 'is required'],
  ['POST', 'sql-rules', { name: 'n', sql: 'x'.repeat(8_001), operator: '>', warning: 9 }, 'sql', 'at most 8000'],
  [
    'PUT',
    'check-alerts/disk-usage',
    { hostThresholds: [{ matchHost: 'one' }] },
    'hostThresholds.0',
    'must have warning or critical',
  ],
  [
    'PUT',
    'check-alerts/disk-usage',
    { hostThresholds: [{ host: 'one', warning: 1 }] },
    'hostThresholds.0.host',
    'is unknown',
  ],
  ['POST', 'maintenance-windows', { startsAt: '2026-06-01', endsAt: '2026-06-02' }, 'startsAt', 'with its zone'],
  [
    'POST',
    'maintenance-windows',
    { startsAt: '2026-06-02T00:00:00Z', endsAt: '2026-06-02T00:00:00Z' },
    'endsAt',
    'later than startsAt',
  ],
  ['POST', 'quiet-hours', { days: [], start: '22:00', end: '07:00' }, 'days', 'must not be empty'],
  ['POST', 'quiet-hours', { days: [7], start: '22:00', end: '07:00' }, 'days.0', 'at most 6'],
  ['POST', 'quiet-hours', { days: [1, 1], start: '22:00', end: '07:00' }, 'days', 'each day once'],
  ['POST', 'quiet-hours', { days: [1], start: '10 pm', end: '07:00' }, 'start', 'time of day such as'],
  ['POST', 'quiet-hours', { days: [1], start: '24:00', end: '07:00' }, 'start', 'earlier than 24:00'],
  ['POST', 'quiet-hours', { days: [1], start: '07:00', end: '07:00' }, 'end', 'must differ from start'],
  [
    'POST',
    'quiet-hours',
    { days: [1], start: '22:00', end: '07:00', timezone: 'CEST' },
    'timezone',
    'time zone such as',
  ],
  [
    'POST',
    'quiet-hours',
    { days: [1], start: '22:00', end: '07:00', severityCap: 'warning' },
    'severityCap',
    'critical',
  ],
  ['POST', 'routes', { matchRule: '', target: 'webhook' }, 'matchRule', 'must not be empty'],
  ['POST', 'routes', { matchRule: '*' }, 'target', 'is required'],
  ['POST', 'routes', { id: 'a b', target: 'webhook' }, 'id', 'letters, digits'],
  ['PUT', 'routes/a%20b', { target: 'webhook' }, 'id', 'letters, digits'],
  ['POST', 'actions', { hostId: 1 }, 'ruleId', 'is required'],
  ['POST', 'actions', { hostId: 1, ruleId: '__proto__' }, 'ruleId', '1 to 64 lower case letters'],
]

describe('an invalid request is rejected', () => {
  it.each(refused)('%s %s %j', async (method, path, sent, parameter, says) => {
    const { status, body } = await send(method, path, sent)
    expect([status, body.error.type]).toEqual([400, 'invalid'])
    expect(body.error.details.problems).toContainEqual({ parameter, message: expect.stringContaining(says) })
    expect(requests).toEqual([])
  })

  it.each([
    ['GET', 'checks?hostId=7', undefined],
    ['POST', 'ack', { hostId: 7, ruleId: 'disk-usage', duration: '5m' }],
    ['POST', 'maintenance-windows', { hostId: 7, startsAt: '2026-06-01T00:00:00Z', endsAt: '2026-06-02T00:00:00Z' }],
  ])('%s %s for an unknown host, with the available hosts', async (method, path, sent) => {
    const { status, body } = await send(method, path, sent)
    expect(status).toBe(404)
    expect(body.error.message).toBe('unknown host "7"; available: 0 (analytics), 1 (logs)')
    expect(requests).toEqual([])
  })

  it.each([
    ['POST', 'ack', { hostId: 1, ruleId: 'disk-usge', duration: '5m' }, 'disk-usage'],
    ['DELETE', 'dismiss?hostId=1&ruleId=disk-usge', undefined, 'disk-usage'],
  ])('%s %s, with the nearest name', async (method, path, sent, nearest) => {
    const { status, body } = await send(method, path, sent)
    expect([status, body.error.details.nearest]).toEqual([404, [nearest]])
  })
})

describe('the audit log', () => {
  it('records who changed the configuration', async () => {
    await send('PUT', 'check-alerts/disk-usage', { warning: 70 })
    await send('POST', 'ack', { hostId: 1, ruleId: 'disk-usage', duration: 'recovery' })
    const { data } = JSON.parse(await (await fetch(`${product.url}/api/v1/audit?limit=2`)).text())
    expect(data).toEqual([
      expect.objectContaining({
        action: 'acknowledge-alert',
        host: 'logs',
        actor: { kind: 'user', subject: 'ada' },
        target: { rule: 'disk-usage', minutes: 'until recovery' },
        result: 'done',
      }),
      expect.objectContaining({ action: 'update-rule', host: null, target: { id: 'disk-usage', warning: '70' } }),
    ])
  })

  it('records rejected changes', async () => {
    await send('POST', 'ack', { hostId: 1, ruleId: 'gone', duration: '5m' })
    const { data } = JSON.parse(await (await fetch(`${product.url}/api/v1/audit?limit=1`)).text())
    expect(data[0]).toMatchObject({ action: 'acknowledge-alert', result: 'refused' })
  })
})

describe('without a state database', () => {
  it('updates return 501 and name the missing setting', async () => {
    const updateAlertConfig = async () => {
      throw new ServiceError(
        'not-implemented',
        'saving alert configuration requires a state database; set SVC_STATE_DB_URL',
      )
    }
    await using without = await startFakeProduct({ alerts: { updateAlertConfig } })
    const { status, body } = await send('PUT', 'alert-digest', { enabled: true, windowMinutes: 5 }, without)
    expect([status, body.error.type]).toEqual([501, 'not-implemented'])
    expect(body.error.message).toContain('SVC_STATE_DB_URL')
  })
})

describe('a caller with a connection session', () => {
  it('sees no other host, and cannot have theirs monitored', async () => {
    const target = { url: 'https://db.example.com:8443', user: 'ada', password: 'secret' }
    const opened = await fetch(`${product.url}/api/v1/browser-connections/sessions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(target),
    })
    const { data: session } = JSON.parse(await opened.text())
    const sendRequest = async (path: string) => {
      const headers = { [session.header]: session.token }
      const response = await fetch(`${product.url}/api/v1/health/${path}`, { headers })
      return { status: response.status, body: JSON.parse(await response.text()) }
    }
    for (const path of ['snapshot', 'alert-state', 'history', 'ack', 'maintenance-windows']) {
      expect((await sendRequest(path)).body.data).toEqual([])
    }
    const { status, body } = await sendRequest('checks?hostId=0')
    expect([status, body.error.message]).toEqual([400, expect.stringContaining('are not monitored')])
  })
})
