import { ServiceError } from '#proto/errors.ts'
import { MetricsQuery } from '#proto/http/exposition.ts'
import { read } from '#shared/config/setting.ts'
import { cloudMode } from '../installation/cloud-mode.ts'
import { refuseSession } from '../connections/connection-session.ts'
import { expositionSettings } from '../features/config.ts'
import type { Gateway } from '../gateway.ts'
import { gzippedRoute } from '../http-route.ts'

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
