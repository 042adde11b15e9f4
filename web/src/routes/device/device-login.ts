import type { CliDiscovery } from '#proto/http/auth.ts'
import type { Me } from '#proto/http/session.ts'
import { call, type RouteData } from '#lib/api/call.ts'

/** A device that requests access with a user code, and the state of its request. */
export type DeviceRequest = RouteData<'GET /api/v1/auth/device/status'>

/** The current user, and whether device login is available. */
export interface DeviceLoginState {
  me: Me
  deviceLogin: CliDiscovery['deviceLogin']
}

/** Fetches the current user, and whether device login is available. */
export const fetchDeviceLogin = async (): Promise<DeviceLoginState> => {
  const [me, { deviceLogin }] = await Promise.all([call('GET /api/v1/auth/me'), call('GET /api/v1/auth/cli')])
  return { me: me.data, deviceLogin }
}

/** Fetches the device with this code. `bearer` is the operator secret, which installations without users require. */
export const fetchDeviceRequest = async (userCode: string, bearer: string | undefined): Promise<DeviceRequest> =>
  (await call('GET /api/v1/auth/device/status', { query: { user_code: userCode }, bearer })).data

/** Approves or denies the request of the device with this code. */
export const decideDeviceRequest = (verb: 'approve' | 'deny', userCode: string, bearer: string | undefined) =>
  call(`POST /api/v1/auth/device/${verb}`, { body: { user_code: userCode }, bearer })
