import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { sweepSettings } from './sweep-settings.ts'

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
