import type { CliDiscovery } from '#proto/http/auth.ts'
import type { Me } from '#proto/http/session.ts'
import { call, type Data } from '#lib/api/call.ts'

/** What a code stands for. */
export type Waiting = Data<'GET /api/v1/auth/device/status'>

/** Who decides here, and whether anybody can. */
export interface Desk {
  me: Me
  deviceLogin: CliDiscovery['deviceLogin']
}

/** Who looks at the page, and whether devices can sign in at all. */
export const openDesk = async (): Promise<Desk> => {
  const [me, { deviceLogin }] = await Promise.all([call('GET /api/v1/auth/me'), call('GET /api/v1/auth/cli')])
  return { me: me.data, deviceLogin }
}

/** The device that shows this code. `bearer` is the operator secret, where nobody vouches for people. */
export const lookUp = async (userCode: string, bearer: string | undefined): Promise<Waiting> =>
  (await call('GET /api/v1/auth/device/status', { query: { user_code: userCode }, bearer })).data

/** Approves or denies the device that shows this code. */
export const decide = (verb: 'approve' | 'deny', userCode: string, bearer: string | undefined) =>
  call(`POST /api/v1/auth/device/${verb}`, { body: { user_code: userCode }, bearer })
