import type { Call } from '#proto/call.ts'
import { whenAvailable } from '#shared/when-available.ts'
import type { Gateway } from '../gateway.ts'
import { refusalOf } from './refusal.ts'

/** Returns whether the caller may change users and grants of hosts; false while that is unknown. */
export const mayManage = async ({ query, policy }: Gateway, call: Call): Promise<boolean> => {
  if (refusalOf({ access: 'write', feature: 'SECURITY' }, call.identity, policy())) return false
  return (await whenAvailable(() => query.management({}, call)))?.enabled === true
}
