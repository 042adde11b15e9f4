import type { Logger } from 'pino'
import type { Environment } from '#shared/config/environment.ts'
import { flagSetting, parseSettings } from '#shared/config/setting.ts'

/** The setting that enables verbose logging. */
export const verboseLogSettings = {
  AGENT_DEBUG: flagSetting(
    false,
    'Log every request to a model provider and every tool call with name, result and duration, without contents.',
  ),
} as const

/** Logs a line if verbose logging is enabled. */
export const logVerbosely = (
  { env, log }: { env: Environment; log: Logger },
  facts: Record<string, unknown>,
  message: string,
): void => {
  if (parseSettings(verboseLogSettings, env).AGENT_DEBUG) log.info(facts, message)
}

/** Returns the time since a `performance.now()` timestamp, in whole milliseconds. */
export const getElapsedMs = (beganMs: number): number => Math.round(performance.now() - beganMs)
