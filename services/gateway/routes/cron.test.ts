import { createClock } from '#shared/time/clock.ts'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { ErrorResponse } from '#proto/http/response.ts'
import { fakeAlerts } from '../testing/fake-services.ts'
import { startFakeProduct } from '../testing/fake-product.ts'

const secret = 'the secret of the scheduler'
const withSecret = { CRON_SECRET: secret }
const paths = ['/api/cron/health-sweep', '/api/cron/retention-prune', '/api/cron/weekly-report']

const sendRequest = async (url: string, bearer?: string) => {
  const response = await fetch(url, { headers: bearer === undefined ? {} : { authorization: `Bearer ${bearer}` } })
  return { status: response.status, headers: response.headers, ...Answered.parse(await response.json()) }
}

const Answered = z.object({ data: z.unknown().optional(), error: ErrorResponse.shape.error.optional() })

/** Returns a fake `alert-dispatcher` that records its requests. */
const recordingAlerts = () => {
  const received: string[] = []
  const alerts = {
    sweep: async (...request: Parameters<typeof fakeAlerts.sweep>) => {
      received.push(`sweep for ${request[1].identity.subject}, ${request[1].priority}`)
      return fakeAlerts.sweep(...request)
    },
    prune: async (...request: Parameters<typeof fakeAlerts.prune>) => {
      received.push('prune')
      return fakeAlerts.prune(...request)
    },
  }
  return { alerts, received }
}

describe('a cron route', () => {
  it.each(paths)('%s rejects all requests while no secret is set', async (path) => {
    const unset: Record<string, string>[] = [{}, { CRON_SECRET: '' }]
    for (const env of unset) {
      const { alerts, received } = recordingAlerts()
      await using product = await startFakeProduct({ env, alerts, report: {} })
      for (const bearer of [undefined, '', 'undefined', secret]) {
        for (const request of [path, `${path}?secret=${encodeURIComponent(secret)}`]) {
          const { status, error } = await sendRequest(product.url + request, bearer)
          expect([status, error?.type]).toEqual([503, 'unavailable'])
        }
      }
      expect(received).toEqual([])
    }
  })

  it.each(paths)('%s accepts only its bearer token', async (path) => {
    const { alerts, received } = recordingAlerts()
    await using product = await startFakeProduct({
      env: { ...withSecret, CRON_SECRET_PREVIOUS: 'the one before' },
      alerts,
      report: {},
    })
    for (const bearer of [
      undefined,
      '',
      secret.slice(0, -1),
      `${secret} `.repeat(2),
      secret.toUpperCase(),
      'svc_x.y',
    ]) {
      const { status, headers, error } = await sendRequest(product.url + path, bearer)
      expect([status, error?.type]).toEqual([401, 'unauthenticated'])
      expect(headers.get('www-authenticate')).toBe('Bearer realm="watchhouse"')
    }
    expect(received).toEqual([])
    for (const bearer of [secret, 'the one before'])
      expect((await sendRequest(product.url + path, bearer)).status).toBe(200)
  })

  it.each(paths)('%s rejects a secret in the URL and does not log it', async (path) => {
    const { alerts, received } = recordingAlerts()
    await using product = await startFakeProduct({ env: withSecret, alerts, report: {} })
    for (const [query, bearer] of [
      [encodeURIComponent(secret), undefined],
      [encodeURIComponent(secret), secret],
      ['', secret],
      ['a&secret=b', secret],
    ] as const) {
      const { status, error } = await sendRequest(`${product.url}${path}?secret=${query}`, bearer)
      expect([status, error?.details?.parameter]).toEqual([400, 'secret'])
      expect(error?.message).toContain('send it as Authorization: Bearer')
      expect(JSON.stringify(error)).not.toContain(secret)
    }
    expect(received).toEqual([])
    expect(product.logged.join('')).not.toContain(secret.slice(0, 10))
  })

  it('runs as the gateway with sweep priority', async () => {
    const { alerts, received } = recordingAlerts()
    await using product = await startFakeProduct({ env: withSecret, alerts })
    await sendRequest(`${product.url}/api/cron/health-sweep?source=scheduler`, secret)
    expect(received).toEqual(['sweep for gateway, sweep'])
  })

  it.each([
    [
      '/api/cron/health-sweep',
      {
        enabled: true,
        hosts: 2,
        checks: 160,
        findings: 3,
        firing: 1,
        dispatched: 1,
        messages: 1,
        suppressed: { maintenance: 2 },
        recoveries: 0,
        unknown: 4,
        tookMs: 350,
      },
    ],
    ['/api/cron/weekly-report', { written: 2, delivered: 1 }],
    [
      '/api/cron/retention-prune',
      {
        removed: {
          gateway: { audit: 0, incidentNotes: 0 },
          'alert-dispatcher': { deliveries: 4 },
          report: { findings: 12, reports: 0 },
        },
      },
    ],
  ])('%s returns what was done', async (path, done) => {
    await using product = await startFakeProduct({ env: withSecret, alerts: {}, report: {} })
    const { status, data } = await sendRequest(product.url + path, secret)
    expect([status, data]).toEqual([200, done])
  })
})

it('returns only enabled: false for a disabled sweep', async () => {
  const sweep = async () => ({ enabled: false, hosts: 0, firing: 0, messages: 0 })
  await using product = await startFakeProduct({ env: withSecret, alerts: { sweep } })
  const { status, data } = await sendRequest(`${product.url}/api/cron/health-sweep`, secret)
  expect([status, data]).toEqual([200, { enabled: false }])
})

it('rejects a sweep while another one runs', async () => {
  const sweep = async () => {
    throw new ServiceError('conflict', 'a sweep is already running')
  }
  await using product = await startFakeProduct({ env: withSecret, alerts: { sweep } })
  const { status, error } = await sendRequest(`${product.url}/api/cron/health-sweep`, secret)
  expect([status, error?.type, error?.message]).toEqual([409, 'conflict', 'a sweep is already running'])
})

describe('the retention prune', () => {
  it.each([
    ['', 364, 0],
    ['', 366, 1],
    ['7', 6, 0],
    ['7', 8, 1],
  ])('with SVC_AUDIT_DAYS=%s prunes audit records of %d days: %d', async (given, days, removed) => {
    let now = Date.UTC(2026, 0, 1)
    await using product = await startFakeProduct({
      env: { ...withSecret, SVC_AUDIT_DAYS: given },
      clock: createClock(() => now),
    })
    await fetch(`${product.url}/api/v1/actions?hostId=0`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ action: 'killQuery', params: { queryId: 'runaway' } }),
    })
    now += days * 86_400_000
    const { data } = await sendRequest(`${product.url}/api/cron/retention-prune`, secret)
    expect(data).toEqual({ removed: { gateway: { audit: removed, incidentNotes: 0 } } })
  })
})

describe('a cron route whose service is not running', () => {
  it.each([
    ['/api/cron/health-sweep', 'alert-dispatcher'],
    ['/api/cron/weekly-report', 'report'],
  ])('%s names it immediately', async (path, owner) => {
    await using product = await startFakeProduct({ env: withSecret })
    const { status, error } = await sendRequest(product.url + path, secret)
    expect([status, error?.type, error?.message]).toEqual([503, 'unavailable', `service "${owner}" does not respond`])
  })

  it('prunes nothing of it', async () => {
    await using product = await startFakeProduct({ env: withSecret })
    const pruned = async (url: string) => (await sendRequest(`${url}/api/cron/retention-prune`, secret)).data
    expect(await pruned(product.url)).toEqual({ removed: { gateway: { audit: 0, incidentNotes: 0 } } })
    await using other = await startFakeProduct({ env: withSecret, report: {} })
    expect(await pruned(other.url)).toEqual({
      removed: { gateway: { audit: 0, incidentNotes: 0 }, report: { findings: 12, reports: 0 } },
    })
  })
})

it('returns the reason of a running service', async () => {
  const sweep = async () => {
    throw new ServiceError('unavailable', 'the state store does not answer', { retryAfterMs: 1_000 })
  }
  await using product = await startFakeProduct({ env: withSecret, alerts: { sweep } })
  const { status, headers, error } = await sendRequest(`${product.url}/api/cron/health-sweep`, secret)
  expect([status, headers.get('retry-after'), error?.message]).toEqual([
    503,
    '1',
    'alert-dispatcher is unavailable: the state store does not answer',
  ])
})

it('prunes nothing of a service whose release has no retention', async () => {
  const prune = async () => {
    throw new ServiceError('not-implemented', 'method "report.prune" does not exist in this release')
  }
  await using product = await startFakeProduct({ env: withSecret, report: { prune } })
  const { status, data } = await sendRequest(`${product.url}/api/cron/retention-prune`, secret)
  expect([status, data]).toEqual([200, { removed: { gateway: { audit: 0, incidentNotes: 0 } } }])
})

it('returns which services failed to prune, and the results of the others', async () => {
  const prune = async () => {
    throw new ServiceError('unavailable', 'the state store does not answer')
  }
  await using product = await startFakeProduct({ env: withSecret, alerts: { prune }, report: {} })
  const { status, error } = await sendRequest(`${product.url}/api/cron/retention-prune`, secret)
  expect([status, error]).toEqual([
    503,
    {
      type: 'unavailable',
      message: 'retention prune failed in alert-dispatcher',
      details: {
        failed: ['alert-dispatcher'],
        removed: { gateway: { audit: 0, incidentNotes: 0 }, report: { findings: 12, reports: 0 } },
      },
    },
  ])
})
