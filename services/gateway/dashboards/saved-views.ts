import { createHash } from 'node:crypto'
import { SavedView } from '#proto/dashboards.ts'
import { ServiceError } from '#proto/errors.ts'
import { defineCollection, openCollections } from '#shared/store/collection/collection.ts'
import type { Database } from '#shared/store/sql/connection.ts'

/** Stored views of table pages: shared ones, and those of their owners. */
export interface SavedViews {
  /** False if the views are lost when the process ends. */
  readonly persistent: boolean
  /** Returns the shared views of a table page and those of this owner. */
  list(table: string, owner: string): Promise<SavedView[]>
  get(id: string): Promise<SavedView | undefined>
  /** Saves a view; one with the same table, name and owner is replaced. */
  save(view: Omit<SavedView, 'id'>): Promise<SavedView>
  remove(id: string): Promise<void>
}

/** Maximum number of views of one table page with the same owner. */
export const maxViews = 50

const savedViews = defineCollection({
  name: 'watchhouse_saved_views',
  schema: SavedView,
  columns: { table_name: 'text', owner: 'text' },
  idOf: ({ id }) => id,
  valuesOf: ({ table, owner }) => ({ table_name: table, owner }),
})

/** Opens the saved views in the state database, or in memory without one. */
export const openSavedViews = async (database: Database | undefined): Promise<SavedViews> => {
  const collections = await openCollections('saved-views', [savedViews], database)
  const views = collections.of(savedViews)
  return {
    persistent: collections.kind !== 'memory',
    list: (table, owner) => views.list({ where: { table_name: table, owner: [null, owner] }, limit: 2 * maxViews }),
    get: (id) => views.get(id),
    save: (view) =>
      collections.atomically(async (within) => {
        const saved = { ...view, id: deriveId(view) }
        const inTable = within.of(savedViews)
        const isNew = (await inTable.get(saved.id)) === undefined
        if (isNew && (await inTable.count({ table_name: view.table, owner: view.owner })) >= maxViews)
          throw new ServiceError('conflict', `too many saved views of this page: the maximum is ${maxViews}`)
        await inTable.put([saved])
        return saved
      }, 'saved-views'),
    remove: async (id) => {
      await views.remove({ id })
    },
  }
}

const idLength = 32

/** Derives the id from table, owner and name, so that two views of one owner cannot have the same name. */
const deriveId = ({ table, owner, name }: Omit<SavedView, 'id'>): string =>
  createHash('sha256')
    .update(JSON.stringify([table, owner, name]))
    .digest('hex')
    .slice(0, idLength)
