import type { z } from 'zod'
import type { Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { MetricsQuery } from '#proto/http/exposition.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { Health, Healthz } from '#proto/http/status.ts'
import type { HostState } from '#proto/query.ts'
import { read } from '#shared/config/setting.ts'
import { refuseSession } from '../connections/hosts-of.ts'
import { expositionSettings } from '../features/config.ts'
import type { Gateway } from '../gateway.ts'
import { getRoute, gzippedRoute } from '../http-route.ts'
import { cloudMode } from '../installation/cloud-mode.ts'

export const health = getRoute({
  path: '/api/health',
  doc: 'Whether the service is alive',
  feature: null,
  access: 'anonymous',
  limit: 'none',
  query: noQuery,
  answer: Health,
  handle: async (_asked, { clock }) => ({ status: 'ok' as const, timestamp: new Date(clock.now()).toISOString() }),
})

type HostHealth = z.input<typeof Healthz>['hosts'][number]

/**
 * Always 200: a monitored host that is down is what the product is there to tell, not a fault of its own. It is the health of the
 * installation, so a connection session changes nothing about it.
 */
export const healthz = getRoute({
  path: '/api/healthz',
  doc: 'State of the monitored hosts, at most twenty seconds old, and of the cloud mode',
  feature: null,
  access: 'anonymous',
  limit: 'none',
  query: noQuery,
  answer: Healthz,
  handle: async ({ call }, gateway) => {
    const states = await gateway.hostStates.lastSeen()
    const ok = states !== undefined && states.every(({ status }) => status === 'up')
    const hosts = states?.map((state) => visible(state, call.identity)) ?? forgotten(gateway)
    return { ok, hosts, cloudMode: cloudMode(gateway.build, gateway.env) }
  },
})

/** The hosts there were, when nobody can tell how they are. */
const forgotten = (gateway: Gateway): HostHealth[] =>
  gateway.hosts.lastKnown().map(({ id }) => ({ id, status: 'unknown' }))

/** Strangers learn that a host is down, not its name or why. */
const visible = (state: HostState, identity: Identity): HostHealth => {
  const { id, status } = state
  if (identity.kind === 'anonymous' || identity.kind === 'guest') return { id, status }
  const { name, reason, version, latencyMs, checkedAtMs } = state
  const checkedAt = checkedAtMs === null ? null : new Date(checkedAtMs).toISOString()
  return { id, status, name, reason, version, latencyMs, checkedAt }
}

export const metrics = gzippedRoute({
  path: '/api/v1/metrics',
  doc: 'Metrics of every host in the text format of Prometheus',
  feature: 'METRICS',
  access: 'read',
  limit: 'data',
  query: MetricsQuery,
  mediaType: 'text/plain; version=0.0.4; charset=utf-8',
  handle: async ({ query, headers }, gateway) => {
    refuseSession(headers)
    if (!isServed(gateway)) {
      throw new ServiceError('not-found', 'metrics are not served here; SVC_FEATURE_PROMETHEUS_ENABLED decides')
    }
    return gateway.exposition.body(query)
  },
})

const isServed = ({ build, env }: Gateway): boolean =>
  read(expositionSettings, env).SVC_FEATURE_PROMETHEUS_ENABLED ?? !cloudMode(build, env).runtime
