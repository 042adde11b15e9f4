import type { BuildFacts } from '#proto/http/build.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { cloudMode } from '../../web/cloud-mode.ts'
import { keySettings } from '../keys/config.ts'
import { providerOf } from '../provider.ts'
import { deviceSettings } from './config.ts'

export interface Availability {
  enabled: boolean
  mode: 'auto' | 'true' | 'false'
  /** Nobody vouches for people, so the operator approves. */
  deviceOnly: boolean
  /** Why it is off. */
  reason: 'disabled' | 'missing_api_key_secret' | null
}

/** Whether a device can sign in now, since what it gets is an API key. */
export const availability = (env: Environment, build: BuildFacts | undefined): Availability => {
  const { SVC_DEVICE_LOGIN: wanted, SVC_API_KEY_SECRET: secret } = read({ ...deviceSettings, ...keySettings }, env)
  const isWanted = wanted ?? cloudMode(build, env).runtime
  const isMissing = secret === undefined
  return {
    enabled: isWanted && !isMissing,
    mode: wanted === undefined ? 'auto' : wanted ? 'true' : 'false',
    deviceOnly: providerOf(env, build) === 'none',
    reason: reasonOf(isWanted, isMissing),
  }
}

const reasonOf = (isWanted: boolean, isMissing: boolean): Availability['reason'] => {
  if (!isWanted) return 'disabled'
  return isMissing ? 'missing_api_key_secret' : null
}
