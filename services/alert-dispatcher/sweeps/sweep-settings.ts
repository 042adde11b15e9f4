import type { Environment } from '#shared/config/environment.ts'
import { maybeFlag, signingKey, url, whole, read } from '#shared/config/setting.ts'
import { forgiving, strictFlag } from '../forgiving-settings.ts'

/** As they must be written, of those whose texts count as unset when they cannot be meant. */
export const strictSweepSettings = {
  SVC_HEALTH_SWEEP_ENABLED: {
    ...strictFlag(maybeFlag('Whether health sweeps run.')),
    fallback: 'on when CRON_SECRET is set',
  },
  HEALTH_ALERT_HEARTBEAT_URL: url(
    'Asked after each health sweep, so that whoever expects it notices when sweeps end.',
    {
      protocols: ['http', 'https'],
      audience: 'secret',
    },
  ),
  SVC_HEALTH_SWEEP_INTERVAL_MINUTES: whole(
    0,
    'Minutes between the health sweeps that the service begins by itself; 0 leaves them to whoever calls GET /api/cron/health-sweep.',
    { max: 1_440 },
  ),
} as const

/** What the sweep obeys; a sweep reads it when it begins. */
export const sweepSettings = {
  CRON_SECRET: signingKey('Bearer of the cron routes, which stay shut without it.'),
  ...forgiving(strictSweepSettings),
} as const

/** Unless it is said, sweeps run where somebody may ask for them. */
export const isSweepEnabled = (env: Environment): boolean => {
  const { SVC_HEALTH_SWEEP_ENABLED: said, CRON_SECRET: secret } = read(sweepSettings, env)
  return said ?? secret !== undefined
}

const minuteMs = 60_000
/** How often a scheduler requests sweeps, where the service does not begin them itself. */
const scheduledEveryMs = 5 * minuteMs

/** Milliseconds between two sweeps; 0 where sweeps are off. */
export const sweepIntervalMs = (env: Environment): number => {
  if (!isSweepEnabled(env)) return 0
  return read(sweepSettings, env).SVC_HEALTH_SWEEP_INTERVAL_MINUTES * minuteMs || scheduledEveryMs
}
