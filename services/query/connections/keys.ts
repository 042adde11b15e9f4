import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Environment } from '#shared/config/environment.ts'
import { type RotatingKey, read } from '#shared/config/setting.ts'
import type { Store } from '#shared/store/store.ts'
import { connectionSettings } from './config.ts'

const sessionKeyName = 'query:connection-session-key'
const sessionKeyBytes = 32

/** What connections are sealed with. */
export interface Keys {
  /** Of connections that are kept; the operator's own, if there is one. */
  kept(): RotatingKey | undefined
  /** Of sessions: made here once and shared by all processes, so that sessions need no setting. */
  ofSessions(): Promise<RotatingKey>
}

/** The operator's key is read anew each time, since it may be replaced while we run. */
export const openKeys = (env: Environment, store: Store): Keys => ({
  kept: () => read(connectionSettings, env).SVC_USER_CONNECTIONS_ENCRYPTION_KEY,
  async ofSessions() {
    const made = randomBytes(sessionKeyBytes).toString('base64url')
    const current =
      (await store.get(sessionKeyName, z.string())) ??
      (await store.update(sessionKeyName, z.string(), (known) => ({ value: known ?? made }))) ??
      made
    return { current, previous: undefined }
  },
})
