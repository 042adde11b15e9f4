import type { Environment } from '#shared/config/environment.ts'
import {
  optionalFlagSetting,
  signingKeySetting,
  urlSetting,
  wholeNumberSetting,
  parseSettings,
} from '#shared/config/setting.ts'
import { isStateInDataDirectory } from '#shared/store/data-directory.ts'
import { makeLenient, makeFlagStrict, parseIfValid } from '../lenient-settings.ts'

/** Sweep settings with strict parsers, used to report invalid values. The service itself ignores such values. */
export const strictSweepSettings = {
  SVC_HEALTH_SWEEP_ENABLED: {
    ...makeFlagStrict(
      optionalFlagSetting(
        'Whether health sweeps run. Also on by default with an interval that is saved in the product, and with SVC_DATA_DIRECTORY.',
      ),
    ),
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
    'Interval of health sweeps in minutes; 0 disables the schedule, so that only GET /api/cron/health-sweep runs sweeps. Unset: the interval saved in the product, else 5 with SVC_DATA_DIRECTORY.',
    { max: 1_440 },
  ),
} as const

/** Settings of the sweep, read at the start of each one. */
export const sweepSettings = {
  CRON_SECRET: signingKeySetting('Bearer token of the cron routes; without it they return 503.'),
  ...makeLenient(strictSweepSettings),
} as const

/** The interval of a single process, and the assumed interval of an external scheduler. */
const standardIntervalMinutes = 5

/** Whether sweeps run and how often the product starts them. */
export interface SweepPlan {
  isEnabled: boolean
  /** 0 if only requests start sweeps. */
  intervalMinutes: number
  /** The source of `isEnabled` and of the interval. `saved` is set in the product or in alert files. */
  sources: Record<'isEnabled' | 'intervalMinutes', 'environment' | 'saved' | 'default'>
}

/**
 * Returns the plan of sweeps. Variables take precedence over the saved interval. By default, sweeps run if a cron
 * secret is set, because the sweep route then works, or if an interval is saved. A single process with a data directory
 * has no external scheduler, so it schedules sweeps itself.
 */
export const resolveSweepPlan = (env: Environment, savedMinutes?: number): SweepPlan => {
  const { SVC_HEALTH_SWEEP_ENABLED: isSwitchedOn, CRON_SECRET: secret } = parseSettings(sweepSettings, env)
  const name = 'SVC_HEALTH_SWEEP_INTERVAL_MINUTES'
  const configuredMinutes = parseIfValid(name, strictSweepSettings[name], env)
  const defaultMinutes = isStateInDataDirectory(env) ? standardIntervalMinutes : 0
  const ownMinutes = configuredMinutes === undefined ? (savedMinutes ?? defaultMinutes) : 0
  const intervalMinutes = configuredMinutes ?? ownMinutes
  const source = (isConfigured: boolean) =>
    isConfigured ? 'environment' : savedMinutes === undefined ? 'default' : 'saved'
  return {
    isEnabled: isSwitchedOn ?? (secret !== undefined || ownMinutes > 0),
    intervalMinutes,
    sources: {
      isEnabled: source(isSwitchedOn !== undefined),
      intervalMinutes: source(configuredMinutes !== undefined),
    },
  }
}

/** Returns the interval between sweeps in seconds, as the metric reports it; 0 if sweeps are disabled. */
export const getSweepIntervalSeconds = ({ isEnabled, intervalMinutes }: SweepPlan): number =>
  isEnabled ? (intervalMinutes || standardIntervalMinutes) * 60 : 0
