import type { SavedView } from '#proto/dashboards.ts'
import { ServiceError } from '#proto/errors.ts'
import {
  NewSavedView,
  SavedViewPath,
  SavedViewResponse,
  SavedViewsQuery,
  SavedViewsResponse,
  type SavedViewEntry,
} from '#proto/http/dashboards.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { defineDeleteRoute, defineGetRoute, definePostRoute, type Route } from '../http-route.ts'
import { parseRequestInput } from '../request/parse.ts'
import { createSuccessBody } from '../response/envelope.ts'

const path = '/api/v1/saved-views'
const common = { feature: 'TABLES', limit: 'data' } as const

const toEntry = ({ owner, ...view }: SavedView): SavedViewEntry => ({ ...view, isShared: owner === null })

const list = defineGetRoute({
  ...common,
  path,
  doc: 'Lists the saved views of a table page: the shared ones and those of the caller',
  access: 'read',
  query: SavedViewsQuery,
  answer: SavedViewsResponse,
  handle: async ({ query: { table }, call }, { dashboards: { views } }) => {
    const found = await views.list(table, call.identity.subject)
    const entries = found.map(toEntry).toSorted((a, b) => a.name.localeCompare(b.name))
    return createSuccessBody(entries, { count: entries.length, persistent: views.persistent })
  },
})

const save = definePostRoute({
  ...common,
  path,
  doc: 'Saves a view of a table page, for the caller or for all; replaces the one with the same name',
  access: 'write',
  query: noQuery,
  body: NewSavedView,
  answer: SavedViewResponse,
  handle: async ({ body: { isShared, ...view }, call, requestId }, { audit, clock, dashboards: { views } }) => {
    const owner = isShared ? null : call.identity.subject
    const action = { action: 'save-table-view', host: null, target: { table: view.table, name: view.name } }
    const saving = () => views.save({ ...view, owner, savedAtMs: clock.now() })
    return createSuccessBody(toEntry(await audit.of(action, { call, requestId }, saving)), {})
  },
})

const remove = defineDeleteRoute({
  ...common,
  path: `${path}/{id}`,
  doc: 'Deletes a shared view, or one of the caller',
  access: 'write',
  query: noQuery,
  answer: SavedViewResponse,
  handle: async ({ path, call, requestId }, { audit, dashboards: { views } }) => {
    const { id } = parseRequestInput(SavedViewPath, path)
    const found = await views.get(id)
    // Views of other users are reported as missing, because their names are personal.
    if (!found || (found.owner !== null && found.owner !== call.identity.subject))
      throw new ServiceError('not-found', `no saved view has the id "${id}"`)
    const action = { action: 'delete-table-view', host: null, target: { table: found.table, name: found.name } }
    await audit.of(action, { call, requestId }, () => views.remove(id))
    return createSuccessBody(toEntry(found), {})
  },
})

/** Routes of the saved views of table pages. */
export const savedViewRoutes: readonly Route[] = [list, save, remove]
