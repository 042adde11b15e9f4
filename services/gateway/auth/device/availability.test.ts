import { expect, it } from 'vitest'
import type { BuildInfo } from '#proto/http/build.ts'
import { type DeviceLoginAvailability, getDeviceLoginAvailability } from './open-device-login.ts'

const secret = { SVC_API_KEY_SECRET: 's' }
const cloud = { SVC_CLOUD_MODE: 'cloud' }
const builtCloud = { client: { CLIENT_CLOUD_MODE: 'true' } } as unknown as BuildInfo

/** Environment, `on` or the reason why device login is off, mode, and whether only the operator approves. */
const rows: [
  env: Record<string, string>,
  answered: DeviceLoginAvailability['reason'] | 'on',
  mode: string,
  deviceOnly: boolean,
][] = [
  [{}, 'disabled', 'auto', true],
  [secret, 'disabled', 'auto', true],
  [cloud, 'missing_api_key_secret', 'auto', false],
  [{ ...cloud, ...secret }, 'on', 'auto', false],
  [{ SVC_DEPLOYMENT_MODE: 'cloud', ...secret }, 'on', 'auto', false],
  [{ ...cloud, ...secret, SVC_DEVICE_LOGIN: 'auto' }, 'on', 'auto', false],
  [{ ...cloud, ...secret, SVC_DEVICE_LOGIN: 'perhaps' }, 'on', 'auto', false],
  [{ ...cloud, ...secret, SVC_DEVICE_LOGIN: 'false' }, 'disabled', 'false', false],
  [{ ...cloud, ...secret, SVC_DEVICE_LOGIN: 'off' }, 'disabled', 'false', false],
  [{ ...secret, SVC_DEVICE_LOGIN: 'true' }, 'on', 'true', true],
  [{ ...secret, SVC_DEVICE_LOGIN: 'YES' }, 'on', 'true', true],
  [{ SVC_DEVICE_LOGIN: 'true' }, 'missing_api_key_secret', 'true', true],
  [{ SVC_DEVICE_LOGIN: 'false' }, 'disabled', 'false', true],
  [{ ...secret, SVC_DEVICE_LOGIN: 'true', SVC_AUTH_PROVIDER: 'idp' }, 'on', 'true', false],
  [{ ...secret, SVC_DEVICE_LOGIN: 'true', SVC_AUTH_PROVIDER: 'proxy' }, 'on', 'true', false],
  [{ ...secret, SVC_DEVICE_LOGIN: 'true', SVC_AUTH_PROVIDER: 'trusted' }, 'on', 'true', false],
  [{ ...cloud, ...secret, SVC_AUTH_PROVIDER: 'none' }, 'on', 'auto', true],
]

it.each(rows)('%j makes device login %s', (env, answered, mode, deviceOnly) => {
  const enabled = answered === 'on'
  expect(getDeviceLoginAvailability(env, undefined)).toEqual({
    enabled,
    mode,
    deviceOnly,
    reason: enabled ? null : answered,
  })
})

it('is not turned on by a cloud build that runs elsewhere', () => {
  expect(getDeviceLoginAvailability(secret, builtCloud)).toMatchObject({ enabled: false, reason: 'disabled' })
})
