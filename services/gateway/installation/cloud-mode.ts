import type { Logger } from 'pino'
import { inCloudMode } from '#shared/config/shared-settings.ts'
import { parseFlag } from '#shared/config/setting.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { BuildFacts } from '#proto/http/build.ts'

export interface CloudMode {
  build: boolean
  runtime: boolean
  warning: string | null
}

/** Returns whether cloud mode is set at build time and at run time, with a warning when only the server has it. */
export const cloudMode = (build: BuildFacts | undefined, env: Environment): CloudMode => {
  const runtime = inCloudMode(env)
  const built = parseFlag(build?.client.CLIENT_CLOUD_MODE ?? undefined, ['cloud']) ?? false
  const warning =
    runtime && !built
      ? 'cloud mode is set at run time but the web was built without it: the server enforces it, the web does not show it'
      : null
  return { build: built, runtime, warning }
}

/** Logs a warning when run time and build time disagree; the server follows the run-time setting. */
export const warnOfCloudMode = (build: BuildFacts | undefined, env: Environment, log: Logger): void => {
  const mode = cloudMode(build, env)
  if (mode.warning !== null) log.warn({ reason: mode.warning }, 'cloud mode mismatch')
  if (mode.build && !mode.runtime)
    log.warn(
      { reason: 'the web was built for cloud mode, but cloud mode is not set at run time; the server runs without it' },
      'cloud mode mismatch',
    )
}
