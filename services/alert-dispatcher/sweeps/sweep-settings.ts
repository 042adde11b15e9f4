import type { Environment } from '#shared/config/environment.ts'
import {
  optionalFlagSetting,
  signingKeySetting,
  urlSetting,
  wholeNumberSetting,
  parseSettings,
} from '#shared/config/setting.ts'
import { makeLenient, makeFlagStrict } from '../lenient-settings.ts'

/** Sweep settings with strict parsers, used to report invalid values. The service itself ignores such values. */
export const strictSweepSettings = {
  SVC_HEALTH_SWEEP_ENABLED: {
    ...makeFlagStrict(optionalFlagSetting('Whether health sweeps run.')),
    fallback: 'on when CRON_SECRET is set',
  },
  HEALTH_ALERT_HEARTBEAT_URL: urlSetting(
    "Heartbeat URL that is called after each health sweep. Its receiver alerts when calls stop (dead man's switch).",
    {
      protocols: ['http', 'https'],
      audience: 'secret',
    },
  ),
  SVC_HEALTH_SWEEP_INTERVAL_MINUTES: wholeNumberSetting(
    0,
    'Interval of health sweeps in minutes; 0 disables the schedule, so that only GET /api/cron/health-sweep runs sweeps.',
    { max: 1_440 },
  ),
} as const

/** Settings of the sweep, read at the start of each one. */
export const sweepSettings = {
  CRON_SECRET: signingKeySetting('Bearer token of the cron routes; without it they return 503.'),
  ...makeLenient(strictSweepSettings),
} as const

/** Returns whether sweeps run. By default they do if a cron secret is set, because the sweep route then works. */
export const isSweepEnabled = (env: Environment): boolean => {
  const { SVC_HEALTH_SWEEP_ENABLED: isEnabled, CRON_SECRET: secret } = parseSettings(sweepSettings, env)
  return isEnabled ?? secret !== undefined
}

const minuteMs = 60_000
/** Assumed interval of an external scheduler, for installations where the service does not start sweeps itself. */
const externalIntervalMs = 5 * minuteMs

/** Returns the interval between sweeps in milliseconds; 0 if sweeps are disabled. */
export const getSweepIntervalMs = (env: Environment): number => {
  if (!isSweepEnabled(env)) return 0
  return parseSettings(sweepSettings, env).SVC_HEALTH_SWEEP_INTERVAL_MINUTES * minuteMs || externalIntervalMs
}
