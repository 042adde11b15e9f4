import { parseFlag, read } from '#shared/config/setting.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { BuildFacts } from '#proto/http/build.ts'
import { settings } from './config.ts'

const { SVC_CLOUD_MODE, SVC_DEPLOYMENT_MODE } = settings

export interface CloudMode {
  build: boolean
  runtime: boolean
  warning: string | null
}

/** Cloud mode is a contract made when the web is built; set only at run time, server and web disagree. */
export const cloudMode = (build: BuildFacts | undefined, env: Environment): CloudMode => {
  const atRuntime = read({ SVC_CLOUD_MODE, SVC_DEPLOYMENT_MODE }, env)
  const runtime = atRuntime.SVC_CLOUD_MODE || atRuntime.SVC_DEPLOYMENT_MODE?.trim().toLowerCase() === 'cloud'
  const built = parseFlag(build?.client.CLIENT_CLOUD_MODE ?? undefined, ['cloud']) ?? false
  const warning =
    runtime && !built
      ? 'cloud mode is set at run time but the web was built without it: the server enforces it, the web does not show it'
      : null
  return { build: built, runtime, warning }
}
