import type { Logger } from 'pino'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { defineCollection, openCollections } from '#shared/store/collection/collection.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import type { Clock } from '#shared/time/clock.ts'
import { openLastKnownValue } from '#shared/store/last-known-value.ts'
import { type DecryptedInstallation, decryptInstallation, StoredInstallation } from './installation.ts'
import { chatApplicationSettings } from './settings.ts'

/** Maximum number of installations, because each of them adds a delivery to every notification. */
export const maxInstallations = 20

/** Installations of the Slack application, in the state database. */
interface Installations {
  all(): Promise<StoredInstallation[]>
  /** Adds or replaces the installation of a channel; throws `conflict` if the maximum number is reached. */
  put(stored: StoredInstallation): Promise<void>
  remove(id: string): Promise<void>
}

const installations = defineCollection({
  name: 'watchhouse_chat_installations',
  schema: StoredInstallation,
  columns: {},
  idOf: ({ id }) => id,
  valuesOf: () => ({}),
})

const openInstallations = async (database: Database): Promise<Installations> => {
  const collections = await openCollections('chat-application', [installations], database)
  const stored = collections.of(installations)
  return {
    all: () => stored.list(),
    put: (installation) =>
      collections.atomically(async (within) => {
        const present = within.of(installations)
        const others = (await present.ids()).filter((id) => id !== installation.id)
        if (others.length >= maxInstallations)
          throw new ServiceError(
            'conflict',
            `too many Slack installations: the maximum is ${maxInstallations}; remove one first`,
          )
        await present.put([installation])
      }, installations.name),
    async remove(id) {
      await stored.remove({ id })
    },
  }
}

/** The installations of the Slack application; there are none without a state database. */
export interface ChatApplication {
  /** Returns the stored installations; throws `not-implemented` without a state database. */
  store(): Installations
  /** Returns all installations that can be decrypted. */
  current(): Promise<readonly DecryptedInstallation[]>
  /** Invalidates the cache, so that the next call of `current` reads the database again. */
  changed(): void
}

interface OpenDeps {
  env: Environment
  database: Database | undefined
  clock: Clock
  log: Logger
}

export const openChatApplication = async ({ env, database, clock, log }: OpenDeps): Promise<ChatApplication> => {
  if (!database) return unavailableChatApplication
  const store = await openInstallations(database)
  const readAll = async () => {
    const key = parseSettings(chatApplicationSettings, env).CHATAPP_TOKEN_ENCRYPTION_KEY
    return (await store.all()).flatMap((stored) => decryptInstallation(stored, key) ?? [])
  }
  const known = openLastKnownValue<readonly DecryptedInstallation[]>({
    initial: [],
    clock,
    read: readAll,
    log,
    named: 'Slack installations',
  })
  return { store: () => store, current: () => known.get(), changed: () => known.changed() }
}

const unavailableChatApplication: ChatApplication = {
  store: () => {
    throw new ServiceError(
      'not-implemented',
      'cannot install the Slack application: no state database; set SVC_STATE_DB_URL',
    )
  },
  current: async () => [],
  changed: () => {},
}
