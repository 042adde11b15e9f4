import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Environment } from '#shared/config/environment.ts'
import type { RotatingKey } from '#shared/config/setting.ts'
import { sealKey } from '#shared/seal/config.ts'
import { openTransit, type Transit } from '#shared/seal/transit.ts'
import type { Store } from '#shared/store/store.ts'
import { madeOnce } from '#shared/store/made-once.ts'

const sessionKeyName = 'query:connection-session-key'
const sessionKeyBytes = 32
const transitKeyName = 'query:connection-transit-key'

/** What connections are sealed with. */
export interface Keys {
  /** Of connections that are kept; the operator's own, if there is one. */
  kept(): RotatingKey | undefined
  /** Of sessions: made here once and shared by all processes, so that sessions need no setting. */
  ofSessions(): Promise<RotatingKey>
  /** Of targets on their way here. */
  transit: Transit
}

export const openKeys = (env: Environment, store: Store): Keys => ({
  kept: () => sealKey(env),
  async ofSessions() {
    const make = async () => randomBytes(sessionKeyBytes).toString('base64url')
    return { current: await madeOnce(store, sessionKeyName, z.string(), make), previous: undefined }
  },
  transit: openTransit(store, transitKeyName),
})
