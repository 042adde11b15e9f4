import type { Call, Identity } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { query } from '#proto/query.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import type { Policy } from '../features/policy.ts'
import { userConnectionSettings } from '../features/config.ts'
import type { KeptConnections } from './kept-connections.ts'
import { ownerOf } from './owner.ts'

/** A caller's own connections. */
export interface OwnConnections {
  owner: string
  kept: KeptConnections
}

/** Connections that people keep, where the installation keeps any. */
export interface UserConnections {
  /** Those of a caller; throws `not-implemented` naming what is missing, and `unauthenticated` for somebody unknown. */
  of(call: Call): Promise<OwnConnections>
  /** Whether the caller may keep any. */
  areKept(call: Call): Promise<boolean>
  /** The same as `of` where it is no failure that there are none. */
  ifAny(call: Call): OwnConnections | undefined
  /** Removes all that somebody keeps, whether or not any may be kept now; says how many. */
  forget(identity: Identity): Promise<number>
}

interface Place {
  env: Environment
  query: Client<typeof query>
  policy: () => Policy
  /** Undefined without a state database. */
  kept: KeptConnections | undefined
}

export const openUserConnections = ({ env, query, policy, kept }: Place): UserConnections => {
  const isOn = (): boolean => read(userConnectionSettings, env).SVC_FEATURE_USER_CONNECTIONS_DB
  /** Where nobody can sign in all callers are one owner; where they can, only those have connections who did. */
  const mayOwn = ({ identity: { kind } }: Call): boolean =>
    kind === 'user' || kind === 'key' || (kind === 'anonymous' && policy().anonymous === 'write')

  return {
    async of(call) {
      if (!isOn()) throw missing('SVC_FEATURE_USER_CONNECTIONS_DB')
      if (kept === undefined) throw missing('a state database, such as SVC_STATE_DB_URL')
      if (!(await query.keepsConnections({}, call))) throw missing('SVC_USER_CONNECTIONS_ENCRYPTION_KEY')
      if (!mayOwn(call)) throw new ServiceError('unauthenticated', 'sign in to keep connections of your own')
      return { owner: ownerOf(call.identity), kept }
    },
    areKept: async (call) => kept !== undefined && isOn() && mayOwn(call) && (await query.keepsConnections({}, call)),
    forget: async (identity) => (kept ? kept.removeAll(ownerOf(identity)) : 0),
    ifAny: (call) => (kept && isOn() && mayOwn(call) ? { owner: ownerOf(call.identity), kept } : undefined),
  }
}

const missing = (what: string): ServiceError =>
  new ServiceError('not-implemented', `no connections are kept here: the operator has not set ${what}`)
