import type { Logger } from 'pino'
import type { Environment } from '#shared/config/environment.ts'
import { flag, read } from '#shared/config/setting.ts'

/** Whether more is logged than an operator usually wants. */
export const verboseSettings = {
  AGENT_DEBUG: flag(
    false,
    'Log every request to a model gateway and every call of a tool: what was asked, how it ended and how long it took, without what was said.',
  ),
} as const

/** Logs for whoever asked for it. */
export const logVerbosely = (
  { env, log }: { env: Environment; log: Logger },
  facts: Record<string, unknown>,
  message: string,
): void => {
  if (read(verboseSettings, env).AGENT_DEBUG) log.info(facts, message)
}

/** Whole milliseconds since a `performance.now()`. */
export const tookMs = (beganMs: number): number => Math.round(performance.now() - beganMs)
