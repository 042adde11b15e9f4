import type { Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { DashboardContent } from '#proto/dashboards.ts'
import type { DashboardSummary, DashboardView } from '#proto/http/dashboards.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import { createNotFoundError } from '#shared/text/not-found.ts'
import type { Clock } from '#shared/time/clock.ts'
import { createProvisionedReader, type ProvisionedDashboard, type ProvisionedDashboards } from './provisioned.ts'
import { openSavedViews, type SavedViews } from './saved-views.ts'
import { type DashboardStore, openDashboardStore, type StoredDashboard } from './store.ts'

/** The dashboards of users, of files and of the product, and the saved views of table pages. */
export interface Dashboards {
  readonly store: DashboardStore
  readonly views: SavedViews
  list(): Promise<{ summaries: DashboardSummary[]; problems: ProvisionedDashboards['problems'] }>
  /** Returns a dashboard of any origin; throws `not-found`. */
  find(id: string): Promise<DashboardView>
  /** Throws `conflict` for a dashboard that users cannot change. */
  requireEditable(id: string): Promise<void>
}

/** Opens dashboards and saved views. */
export const openDashboards = async (
  database: Database | undefined,
  { env, clock }: { env: Environment; clock: Clock },
): Promise<Dashboards> => {
  const store = await openDashboardStore(database, clock)
  const readProvisioned = createProvisionedReader(env)
  const findProvisioned = async (id: string) => (await readProvisioned()).dashboards.find((each) => each.id === id)
  return {
    store,
    views: await openSavedViews(database),
    list: async () => {
      const { dashboards, problems } = await readProvisioned()
      const all = [...(await store.list()).map(toUserView), ...dashboards.map(toProvisionedView)]
      return { summaries: all.map(toSummary).toSorted(byFolderAndTitle), problems }
    },
    find: async (id) => {
      const stored = await store.get(id)
      if (stored) return toUserView(stored)
      const provisioned = await findProvisioned(id)
      if (provisioned) return toProvisionedView(provisioned)
      const known = [...(await store.list()), ...(await readProvisioned()).dashboards].map((each) => each.id)
      throw createNotFoundError('dashboard', id, known, 'id')
    },
    requireEditable: async (id) => {
      const provisioned = await findProvisioned(id)
      if (provisioned === undefined) return
      const manager = provisioned.managedBy === 'file' ? 'managed by a file; edit it there' : 'part of the product'
      throw new ServiceError(
        'conflict',
        `dashboard "${provisioned.content.title}" is ${manager}, or save your changes as a copy`,
      )
    },
  }
}

/** Returns the name under which the changes of a caller are listed. */
export const nameAuthor = ({ subject, profile }: Identity): string => profile?.name ?? profile?.email ?? subject

const toUserView = ({ id, version, savedAtMs, savedBy, content }: StoredDashboard): DashboardView => ({
  id,
  managedBy: 'users',
  version,
  savedAtMs,
  savedBy,
  content,
})

const toProvisionedView = ({ id, managedBy, content, savedAtMs }: ProvisionedDashboard): DashboardView => ({
  id,
  managedBy,
  version: 1,
  savedAtMs,
  savedBy: null,
  content,
})

const toSummary = ({ content, ...facts }: DashboardView): DashboardSummary => ({ ...facts, ...summarize(content) })

const summarize = ({ title, description, folder, panels }: DashboardContent) => ({
  title,
  description,
  folder,
  panels: panels.length,
})

const byFolderAndTitle = (a: DashboardSummary, b: DashboardSummary): number =>
  a.folder.localeCompare(b.folder) || a.title.localeCompare(b.title)
