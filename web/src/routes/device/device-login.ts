import type { z } from 'zod'
import type { CliDiscovery, DeviceDecisionAnswer, DeviceStatusAnswer } from '#proto/http/auth.ts'
import type { Me, MeAnswer } from '#proto/http/session.ts'
import { requestJson } from '#lib/api/request.ts'

/** What a code stands for. */
export type Waiting = z.infer<typeof DeviceStatusAnswer>['data']

/** Who decides here, and whether anybody can. */
export interface Desk {
  me: Me
  deviceLogin: CliDiscovery['deviceLogin']
}

const base = '/api/v1/auth'

/** Who looks at the page, and whether devices can sign in at all. */
export const openDesk = async (): Promise<Desk> => {
  const [me, { deviceLogin }] = await Promise.all([
    requestJson<z.infer<typeof MeAnswer>>(`${base}/me`),
    requestJson<CliDiscovery>(`${base}/cli`),
  ])
  return { me: me.data, deviceLogin }
}

/** The device that shows this code. `bearer` is the operator secret, where nobody vouches for people. */
export const lookUp = async (userCode: string, bearer: string | undefined): Promise<Waiting> => {
  const query = new URLSearchParams({ user_code: userCode })
  const path = `${base}/device/status?${query}`
  return (await requestJson<z.infer<typeof DeviceStatusAnswer>>(path, { bearer })).data
}

/** Approves or denies the device that shows this code. */
export const decide = (verb: 'approve' | 'deny', userCode: string, bearer: string | undefined) =>
  requestJson<z.infer<typeof DeviceDecisionAnswer>>(`${base}/device/${verb}`, { body: { user_code: userCode }, bearer })
