import { maybeFlag } from '#shared/config/setting.ts'

export const expositionSettings = {
  SVC_FEATURE_PROMETHEUS_ENABLED: maybeFlag(
    'Serve GET /api/v1/metrics, the figures of all hosts for Prometheus; unset means yes, in cloud mode no.',
  ),
} as const
