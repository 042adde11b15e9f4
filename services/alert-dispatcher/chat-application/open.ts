import type { Logger } from 'pino'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { defineCollection, openCollections } from '#shared/store/collection/collection.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import type { Clock } from '#shared/time/clock.ts'
import { openLastKnown } from '../last-known.ts'
import { type OpenInstallation, openKept, Kept } from './installation.ts'
import { chatApplicationSettings } from './settings.ts'

/** Every notice is written down for each of them, so they stay few. */
export const mostInstallations = 20

/** Where the chat application is installed, in the state database. */
interface Installations {
  all(): Promise<Kept[]>
  /** In place of what there was for the same chat; throws `conflict` when there are as many others as there may be. */
  put(kept: Kept): Promise<void>
  remove(id: string): Promise<void>
}

const installations = defineCollection({
  name: 'watchhouse_chat_installations',
  schema: Kept,
  columns: {},
  idOf: ({ id }) => id,
  valuesOf: () => ({}),
})

const openInstallations = async (database: Database): Promise<Installations> => {
  const collections = await openCollections('chat-application', [installations], database)
  const kept = collections.of(installations)
  return {
    all: () => kept.list(),
    put: (installation) =>
      collections.atomically(async (within) => {
        const present = within.of(installations)
        const others = (await present.ids()).filter((id) => id !== installation.id)
        if (others.length >= mostInstallations)
          throw new ServiceError(
            'conflict',
            `the chat application has ${mostInstallations} chats already; remove one first`,
          )
        await present.put([installation])
      }, installations.name),
    async remove(id) {
      await kept.remove({ id })
    },
  }
}

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
