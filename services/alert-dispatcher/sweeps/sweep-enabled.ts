import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { sweepSettings } from './sweep-settings.ts'

/** Unless it is said, sweeps run where somebody may ask for them. */
export const isSweepEnabled = (env: Environment): boolean => {
  const { SVC_HEALTH_SWEEP_ENABLED: said, CRON_SECRET: secret } = read(sweepSettings, env)
  return said ?? secret !== undefined
}
