import type { BuildFacts } from '#proto/http/build.ts'
import type { CliDiscovery } from '#proto/http/auth.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { DeviceLogin } from './device/device-login.ts'
import type { ApiKeys } from './keys/keys.ts'
import { anonymousRight, providerOf } from './provider.ts'

interface Configured {
  env: Environment
  build: BuildFacts | undefined
  keys: ApiKeys
  deviceLogin: DeviceLogin
}

/** How a program may sign in here, from what is configured at this moment; no secrets. */
export const cliDiscovery = ({ env, build, keys, deviceLogin }: Configured): CliDiscovery => {
  const { enabled, mode, deviceOnly, reason } = deviceLogin.availability()
  const anonymous = anonymousRight(env, build)
  const isOpen = anonymous === 'write'
  const method = isOpen || !keys.enabled() ? 'none' : enabled ? 'device' : 'api_key'
  return {
    method,
    api: isOpen ? 'open' : 'key_required',
    authProvider: providerOf(env, build),
    deviceLogin: { enabled, mode, deviceOnly, reason, store: deviceLogin.kind },
    hint: isOpen ? openHint : `${anonymous === 'read' ? readHint : ''}${hints[method]}`,
  }
}

const openHint = 'No credentials are needed: whoever can reach this server may call it.'
const readHint = 'Reading needs no credentials; changing things, asking the agent and running SQL does. '
const hints = {
  none: 'A key is needed and keys are off: ask the operator to set SVC_API_KEY_SECRET.',
  api_key: 'Ask the operator for a key and send it as Authorization: Bearer svc_…',
  device: 'Sign in with the device flow: POST /auth/device/code, then poll POST /auth/token.',
} as const
