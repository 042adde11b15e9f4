import { maybeFlag, signingKey, url, whole } from '#shared/config/setting.ts'

/** What the sweep obeys; a sweep reads it when it begins. */
export const sweepSettings = {
  CRON_SECRET: signingKey('Bearer of the cron routes, which stay shut without it.'),
  SVC_HEALTH_SWEEP_ENABLED: {
    ...maybeFlag('Whether health sweeps run.'),
    fallback: 'on when CRON_SECRET is set',
  },
  SVC_HEALTH_SWEEP_INTERVAL_MINUTES: whole(
    0,
    'Minutes between the health sweeps that the service begins by itself; 0 leaves them to whoever calls GET /api/cron/health-sweep.',
    { max: 1_440 },
  ),
  HEALTH_ALERT_HEARTBEAT_URL: url(
    'Asked after each health sweep, so that whoever expects it notices when sweeps end.',
    {
      protocols: ['http', 'https'],
      audience: 'secret',
    },
  ),
} as const
