import { describe, expect, it } from 'vitest'
import { features } from '#proto/call.ts'
import type { RateLimitBudget } from './limits/limits.ts'
import type { RouteAccessLevel, Route } from './http-route.ts'
import { routes } from './routes.ts'

const nameOf = ({ method, path }: Route) => `${method} ${path}`
const withAccess = (access: RouteAccessLevel) => routes.filter((route) => route.access === access)

/** Paths that are open to anonymous callers in every authentication mode. */
const openPaths = [
  /^\/api\/(health|healthz|version)$/,
  /^\/api\/v1\/(openapi\.json|config)$/,
  /^\/\.well-known\//,
  /^\/auth\.md$/,
  /^(\/api\/v1)?\/auth\//,
  /^\/api\/v1\/browser-connections\//,
]
/** Paths that check a bearer token of their own, or whose access depends on the parameters. */
const ownBearerPaths = [
  /^\/api\/mcp$/,
  /^\/api\/cron\//,
  /^\/api\/events\/ingest$/,
  /^\/api\/webhooks\//,
  /^\/api\/v1\/auth\/(api-keys?(\/|$)|device\/)/,
]
/** Paths without a rate limit: they are cheap, and orchestrators probe them constantly. */
const uncountedPaths = [/^\/api\/(health|healthz|version)$/]

const outside = (those: readonly Route[], paths: readonly RegExp[]) =>
  those.filter(({ path }) => !paths.some((allowed) => allowed.test(path))).map(nameOf)

describe('route access', () => {
  it('is declared by every route', () => {
    const accesses = new Set<RouteAccessLevel>(['anonymous', 'read', 'write', 'own-bearer'])
    const limits = new Set<RateLimitBudget>([
      'none',
      'data',
      'agent',
      'mcp',
      'ingest',
      'browser-connection-test',
      'browser-connection-session',
      'device-login',
    ])
    const undeclared = routes.filter(
      ({ access, limit, feature }) =>
        !accesses.has(access) || !limits.has(limit) || !(feature === null || features.includes(feature)),
    )
    expect(undeclared.map(nameOf)).toEqual([])
  })

  it('is anonymous only for the listed paths', () => {
    expect(withAccess('anonymous').map(({ path }) => path)).toEqual(
      expect.arrayContaining(['/api/health', '/api/healthz', '/api/version', '/api/v1/config']),
    )
    expect(outside(withAccess('anonymous'), openPaths)).toEqual([])
  })

  it('is a bearer of the route only for the listed paths', () => {
    expect(outside(withAccess('own-bearer'), ownBearerPaths)).toEqual([])
  })

  it('is limited to a secret only for the listed paths', () => {
    const paths = new Set(routes.filter(({ secretOnly }) => secretOnly).map(({ path }) => path))
    expect([...paths].toSorted()).toEqual([
      '/api/cron/health-sweep',
      '/api/cron/retention-prune',
      '/api/cron/weekly-report',
      '/api/events/ingest',
      '/api/mcp',
      '/api/v1/auth/api-key',
      '/api/webhooks/chat-application',
      '/api/webhooks/identity-provider',
      '/api/webhooks/repository',
    ])
    expect(routes.filter(({ secretOnly, access }) => secretOnly && access !== 'own-bearer').map(nameOf)).toEqual([])
  })

  it('includes guests only for the agent', () => {
    expect(routes.filter(({ guests, path }) => guests && !path.startsWith('/api/v1/agent')).map(nameOf)).toEqual([])
  })

  it('is rate limited for all but cheap paths', () => {
    expect(
      outside(
        routes.filter(({ limit }) => limit === 'none'),
        uncountedPaths,
      ),
    ).toEqual([])
  })

  it('is write for changes and for SQL of the caller', () => {
    const readingBodies = new Set([
      'POST /api/v1/charts/batch',
      // Runs only statements that are stored in a dashboard.
      'POST /api/v1/dashboards/{id}/rows',
      'POST /api/v1/page-views',
      'POST /api/v1/health/actions',
      'POST /api/v1/health/webhook-targets/preview',
      'POST /api/v1/repldb/mirrors/status',
      'POST /api/v1/repldb/mirrors/cdc/graph',
      'POST /api/v1/repldb/mirrors/cdc/batches',
      'POST /api/v1/repldb/mirrors/logs',
      'POST /api/v1/repldb/peers/slots/lag_history',
    ])
    const reading = withAccess('read').filter(({ method }) => method !== 'GET')
    expect(reading.map(nameOf).filter((name) => !readingBodies.has(name))).toEqual([])
    const ownSql = routes.filter(({ path }) => /\/(explain|query)$/.test(path))
    expect(ownSql.filter(({ access }) => access !== 'write').map(nameOf)).toEqual([])
  })
})
