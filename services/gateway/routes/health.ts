import type { z } from 'zod'
import type { Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { MetricsQuery } from '#proto/http/exposition.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { HealthResponse, HealthzResponse } from '#proto/http/status.ts'
import type { HostState } from '#proto/query.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { rejectConnectionSession } from '../connections/caller-hosts.ts'
import { expositionSettings } from '../features/config.ts'
import type { Gateway } from '../gateway.ts'
import { defineGetRoute, defineGzippedRoute } from '../http-route.ts'
import { resolveCloudMode } from '../installation/edition.ts'

export const healthRoute = defineGetRoute({
  path: '/api/health',
  doc: 'Returns whether the service is alive',
  feature: null,
  access: 'anonymous',
  limit: 'none',
  isPolled: true,
  query: noQuery,
  answer: HealthResponse,
  handle: async (_request, { clock }) => ({ status: 'ok' as const, timestamp: new Date(clock.now()).toISOString() }),
})

type HostHealth = z.input<typeof HealthzResponse>['hosts'][number]

/**
 * Always returns 200, because a monitored host that is down is not a failure of the service. Connection sessions are
 * ignored, because this is the health of the installation.
 */
export const healthzRoute = defineGetRoute({
  path: '/api/healthz',
  doc: 'Returns the state of the monitored hosts, at most 20 seconds old, and of the cloud mode',
  feature: null,
  access: 'anonymous',
  limit: 'none',
  isPolled: true,
  query: noQuery,
  answer: HealthzResponse,
  handle: async ({ call }, gateway) => {
    const states = await gateway.hostStates.lastSeen()
    const ok = states !== undefined && states.every(({ status }) => status === 'up')
    const hosts = states?.map((state) => visibleHealth(state, call.identity)) ?? unknownHosts(gateway)
    return { ok, hosts, cloudMode: resolveCloudMode(gateway.build, gateway.env) }
  },
})

/** Returns the last known hosts with the status `unknown`, for when `query` reports no states. */
const unknownHosts = (gateway: Gateway): HostHealth[] =>
  gateway.hosts.lastKnown().map(({ id }) => ({ id, status: 'unknown' }))

/** Returns the visible fields of a host: for anonymous callers and guests only id and status. */
const visibleHealth = (state: HostState, identity: Identity): HostHealth => {
  const { id, status } = state
  if (identity.kind === 'anonymous' || identity.kind === 'guest') return { id, status }
  const { name, reason, version, latencyMs, checkedAtMs } = state
  const checkedAt = checkedAtMs === null ? null : new Date(checkedAtMs).toISOString()
  return { id, status, name, reason, version, latencyMs, checkedAt }
}

export const metricsRoute = defineGzippedRoute({
  path: '/api/v1/metrics',
  doc: 'Returns metrics of every host in the Prometheus text format',
  feature: 'METRICS',
  access: 'read',
  limit: 'data',
  isPolled: true,
  query: MetricsQuery,
  mediaType: 'text/plain; version=0.0.4; charset=utf-8',
  handle: async ({ query, headers }, gateway) => {
    rejectConnectionSession(headers)
    if (!isExpositionEnabled(gateway)) {
      throw new ServiceError('not-found', 'Prometheus metrics are disabled; set SVC_FEATURE_PROMETHEUS_ENABLED=true')
    }
    return gateway.exposition.body(query)
  },
})

const isExpositionEnabled = ({ build, env }: Gateway): boolean =>
  parseSettings(expositionSettings, env).SVC_FEATURE_PROMETHEUS_ENABLED ?? !resolveCloudMode(build, env).runtime
