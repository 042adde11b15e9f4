import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Environment } from '#shared/config/environment.ts'
import { type RotatingKey, read } from '#shared/config/setting.ts'
import type { Store } from '#shared/store/store.ts'
import { connectionSettings } from './config.ts'
import { newTransitKey, TransitKey } from './transit.ts'

const sessionKeyName = 'query:connection-session-key'
const sessionKeyBytes = 32
const transitKeyName = 'query:connection-transit-key'

/** What connections are sealed with. */
export interface Keys {
  /** Of connections that are kept; the operator's own, if there is one. */
  kept(): RotatingKey | undefined
  /** Of sessions: made here once and shared by all processes, so that sessions need no setting. */
  ofSessions(): Promise<RotatingKey>
  /** Of targets on their way here; made like that of sessions. */
  inTransit(): Promise<TransitKey>
}

/** The operator's key is read anew each time, since it may be replaced while we run. */
export const openKeys = (env: Environment, store: Store): Keys => ({
  kept: () => read(connectionSettings, env).SVC_USER_CONNECTIONS_ENCRYPTION_KEY,
  async ofSessions() {
    const make = async () => randomBytes(sessionKeyBytes).toString('base64url')
    return { current: await madeOnce(store, sessionKeyName, z.string(), make), previous: undefined }
  },
  inTransit: () => madeOnce(store, transitKeyName, TransitKey, newTransitKey),
})

/** What is under a name in the store; made when there is nothing, by one process for all. */
const madeOnce = async <T>(store: Store, name: string, schema: z.ZodType<T, T>, make: () => Promise<T>): Promise<T> => {
  const present = await store.get(name, schema)
  if (present !== undefined) return present
  const made = await make()
  return (await store.update(name, schema, (known) => ({ value: known ?? made }))) ?? made
}
