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

/** Cloud mode is a contract made when the web is built; set only at run time, server and web disagree. */
export const cloudMode = (build: BuildFacts | undefined, env: Environment): CloudMode => {
  const runtime = inCloudMode(env)
  const built = parseFlag(build?.client.CLIENT_CLOUD_MODE ?? undefined, ['cloud']) ?? false
  const warning =
    runtime && !built
      ? 'cloud mode is set at run time but the web was built without it: the server enforces it, the web does not show it'
      : null
  return { build: built, runtime, warning }
}

/** Says at the start what follows when the run and the build are not of one mind; the run decides what the server does. */
export const warnOfCloudMode = (build: BuildFacts | undefined, env: Environment, log: Logger): void => {
  const mode = cloudMode(build, env)
  if (mode.warning !== null) log.warn({ reason: mode.warning }, 'cloud mode is half set')
  if (mode.build && !mode.runtime)
    log.warn(
      { reason: 'the web was built for it and it is not set at run time: the server runs without it' },
      'cloud mode is half set',
    )
}
