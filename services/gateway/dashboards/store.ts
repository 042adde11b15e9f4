import { randomBytes } from 'node:crypto'
import type { z } from 'zod'
import { DashboardId, DashboardVersion, type DashboardContent } from '#proto/dashboards.ts'
import { ServiceError } from '#proto/errors.ts'
import { type Collections, defineCollection, openCollections } from '#shared/store/collection/collection.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import type { Clock } from '#shared/time/clock.ts'

/** A stored dashboard in its current version. */
export const StoredDashboard = DashboardVersion.extend({ id: DashboardId })
export type StoredDashboard = z.infer<typeof StoredDashboard>

/** What a user saves: the content, the user, and an optional note. */
export interface DashboardSave {
  content: DashboardContent
  savedBy: string
  note: string
}

/** Stored dashboards with their versions. */
export interface DashboardStore {
  /** False if the dashboards are lost when the process ends. */
  readonly persistent: boolean
  list(): Promise<StoredDashboard[]>
  get(id: string): Promise<StoredDashboard | undefined>
  version(id: string, version: number): Promise<DashboardVersion | undefined>
  /** Returns the retained versions, newest first. */
  versions(id: string): Promise<DashboardVersion[]>
  /** Adds a dashboard; throws `conflict` when there are too many. */
  create(save: DashboardSave): Promise<StoredDashboard>
  /** Saves the next version; throws `conflict` if `version` is not the current one, and `not-found`. */
  update(id: string, version: number, save: DashboardSave): Promise<StoredDashboard>
  /** Deletes a dashboard with all its versions; returns whether it existed. */
  remove(id: string): Promise<boolean>
}

/** Maximum number of stored dashboards. */
export const maxDashboards = 1_000
/** Number of versions that are retained of each dashboard. */
export const maxVersions = 50

const dashboards = defineCollection({
  name: 'watchhouse_dashboards',
  schema: StoredDashboard,
  columns: { savedAtMs: 'integer' },
  idOf: ({ id }) => id,
  valuesOf: ({ savedAtMs }) => ({ savedAtMs }),
})

const versions = defineCollection({
  name: 'watchhouse_dashboard_versions',
  schema: StoredDashboard,
  columns: { dashboard: 'text', number: 'integer' },
  idOf: ({ id, version }) => `${id}:${version}`,
  valuesOf: ({ id, version }) => ({ dashboard: id, number: version }),
})

const idBytes = 6

/** Opens the dashboards in the state database, or in memory without one. */
export const openDashboardStore = async (database: Database | undefined, clock: Clock): Promise<DashboardStore> => {
  const collections = await openCollections('dashboards', [dashboards, versions], database)
  const current = collections.of(dashboards)
  const history = collections.of(versions)
  const versionsOf = (id: string) =>
    history.list({ where: { dashboard: id }, orderBy: 'number', descending: true, limit: maxVersions })
  return {
    persistent: collections.kind !== 'memory',
    list: () => current.list({ limit: maxDashboards }),
    get: (id) => current.get(id),
    version: (id, version) => history.get(`${id}:${version}`),
    versions: versionsOf,
    create: (save) =>
      collections.atomically(async (within) => {
        if ((await within.of(dashboards).count()) >= maxDashboards)
          throw new ServiceError('conflict', `too many dashboards: the maximum is ${maxDashboards}; delete some first`)
        return write(within, { ...save, id: `d-${randomBytes(idBytes).toString('hex')}`, version: 1 }, clock)
      }, lockName),
    update: (id, version, save) =>
      collections.atomically(async (within) => {
        const found = await within.of(dashboards).get(id)
        if (!found) throw new ServiceError('not-found', `no dashboard has the id "${id}"`)
        if (found.version !== version) throw createConflictError(found, version)
        return write(within, { ...save, id, version: version + 1 }, clock)
      }, lockName),
    remove: (id) =>
      collections.atomically(async (within) => {
        await within.of(versions).remove({ dashboard: id })
        return (await within.of(dashboards).remove({ id })) > 0
      }, lockName),
  }
}

const lockName = 'dashboards'

const write = async (
  within: Collections,
  save: DashboardSave & Pick<StoredDashboard, 'id' | 'version'>,
  clock: Clock,
): Promise<StoredDashboard> => {
  const saved = { ...save, savedAtMs: clock.now() }
  await within.of(dashboards).put([saved])
  await within.of(versions).put([saved])
  await within.of(versions).remove({ dashboard: save.id, number: { before: save.version - maxVersions + 1 } })
  return saved
}

/** Returns the error for a save that would overwrite the version of another user. */
const createConflictError = (
  { version, savedAtMs, savedBy, content }: StoredDashboard,
  edited: number,
): ServiceError => {
  const savedAt = new Date(savedAtMs).toISOString()
  return new ServiceError(
    'conflict',
    `dashboard "${content.title}" was changed by "${savedBy}" at ${savedAt}: you edited version ${edited}, the current one is ${version}; reload it, or save your changes as a copy`,
    { details: { version, savedBy, savedAt } },
  )
}
