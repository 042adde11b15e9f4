import type { Logger } from 'pino'
import { ServiceError } from '#proto/errors.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import { openLastKnown } from '../last-known.ts'
import { type OpenInstallation, openKept } from './installation.ts'
import { chatApplicationSettings } from './settings.ts'
import { type Installations, openInstallations } from './installations.ts'

/** The installations of the chat application; without a state database there are none. */
export interface ChatApplication {
  /** Throws `not-implemented` without a state database. */
  store(): Installations
  /** All that can be sent to. */
  current(): Promise<readonly OpenInstallation[]>
  changed(): void
}

interface Place {
  env: Environment
  database: Database | undefined
  clock: Clock
  log: Logger
}

export const openChatApplication = async ({ env, database, clock, log }: Place): Promise<ChatApplication> => {
  if (!database) return withoutDatabase
  const store = await openInstallations(database)
  const readAll = async () => {
    const key = read(chatApplicationSettings, env).CHATAPP_TOKEN_ENCRYPTION_KEY
    return (await store.all()).flatMap((kept) => openKept(kept, key) ?? [])
  }
  const known = openLastKnown<readonly OpenInstallation[]>({
    initial: [],
    clock,
    read: readAll,
    log,
    named: 'chats of the chat application',
  })
  return { store: () => store, current: () => known.get(), changed: () => known.changed() }
}

const withoutDatabase: ChatApplication = {
  store: () => {
    throw new ServiceError(
      'not-implemented',
      'installing the chat application needs a state database: set SVC_STATE_DB_URL',
    )
  },
  current: async () => [],
  changed: () => {},
}
