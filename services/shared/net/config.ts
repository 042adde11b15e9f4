import { inCloudMode } from '../config/shared-settings.ts'
import type { Environment } from '../config/environment.ts'
import { flag, read } from '../config/setting.ts'

/** What the guard of outgoing requests obeys. */
export const netSettings = {
  SVC_ALLOW_PRIVATE_HOSTS: flag(
    false,
    'Allow user-supplied addresses in private, loopback, link-local and overlay networks; always off in cloud mode.',
    { alsoTrue: ['cloud'] },
  ),
} as const

/** Whether addresses that callers give may lead into networks of the operator's own. */
export const allowsPrivateHosts = (env: Environment): boolean =>
  read(netSettings, env).SVC_ALLOW_PRIVATE_HOSTS && !inCloudMode(env)
