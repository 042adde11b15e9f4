import { inCloudMode } from '../config/shared-settings.ts'
import type { Environment } from '../config/environment.ts'
import { flag, read } from '../config/setting.ts'

/** What the guard of outgoing requests obeys. */
export const netSettings = {
  SVC_ALLOW_PRIVATE_HOSTS: flag(
    false,
    'Let addresses that callers give lead into private, loopback, link-local and overlay networks; cloud mode forces it off.',
    { alsoTrue: ['cloud'] },
  ),
} as const

/** Whether addresses that callers give may lead into networks of the operator's own. */
export const allowsPrivateHosts = (env: Environment): boolean =>
  read(netSettings, env).SVC_ALLOW_PRIVATE_HOSTS && !inCloudMode(env)
