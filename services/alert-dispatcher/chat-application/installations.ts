import { ServiceError } from '#proto/errors.ts'
import { defineCollection, openCollections } from '#shared/store/collection/collection.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import { Kept } from './installation.ts'

/** Every notice is written down for each of them, so they stay few. */
export const mostInstallations = 20

/** Where the chat application is installed, in the state database. */
export interface Installations {
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

export const openInstallations = async (database: Database): Promise<Installations> => {
  const kept = (await openCollections('chat-application', [installations], database)).of(installations)
  return {
    all: () => kept.list(),
    async put(installation) {
      const others = (await kept.ids()).filter((id) => id !== installation.id)
      if (others.length >= mostInstallations)
        throw new ServiceError(
          'conflict',
          `the chat application has ${mostInstallations} chats already; remove one first`,
        )
      await kept.put([installation])
    },
    async remove(id) {
      await kept.remove({ id })
    },
  }
}
