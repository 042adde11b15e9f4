import { z } from 'zod'
import { DefinitionId } from '../catalogue.ts'
import { DashboardContent, DashboardId, DashboardVersion, SavedView } from '../dashboards.ts'
import { bodyHostId, createIntegerParameter, hostId } from './parameters.ts'
import { createResponseSchema } from './response.ts'

const maxVersion = 1_000_000_000
const Version = z.int().min(1).max(maxVersion)
const Note = z.string().trim().max(200, 'must not be longer than 200 characters').default('')

/** Path parameters of requests about one dashboard. */
export const DashboardPath = z.object({ id: DashboardId })

/** Who manages a dashboard: users, a file of the operator, or the product, which contains the starter dashboards. */
const Manager = z.enum(['users', 'file', 'product'])

/** A dashboard without its panels. */
const DashboardSummary = z.object({
  id: DashboardId,
  title: z.string(),
  description: z.string(),
  folder: z.string(),
  /** Number of panels. */
  panels: z.int(),
  managedBy: Manager,
  version: z.int(),
  savedAtMs: z.int().nullable(),
  savedBy: z.string().nullable(),
})
export type DashboardSummary = z.infer<typeof DashboardSummary>

/** Response of `GET /api/v1/dashboards`. */
export const DashboardsResponse = createResponseSchema(
  z.array(DashboardSummary),
  z.object({
    count: z.int(),
    /** False if dashboards are lost when the process ends. */
    persistent: z.boolean(),
    /** Files of `SVC_DASHBOARDS_DIRECTORY` that are not valid dashboards. */
    problems: z.array(z.object({ file: z.string(), message: z.string() })),
  }),
)

/** A dashboard with its panels. */
const DashboardView = z.object({
  id: DashboardId,
  managedBy: Manager,
  version: z.int(),
  savedAtMs: z.int().nullable(),
  savedBy: z.string().nullable(),
  content: DashboardContent,
})
export type DashboardView = z.infer<typeof DashboardView>

/** Response with one dashboard. */
export const DashboardResponse = createResponseSchema(DashboardView, z.object({ persistent: z.boolean() }))
/** Query parameters of `GET /api/v1/dashboards/{id}`; the current version by default. */
export const DashboardQuery = z.strictObject({ version: createIntegerParameter(1, maxVersion).optional() })
/** Body of `POST /api/v1/dashboards`. */
export const NewDashboard = z.strictObject({ content: DashboardContent, note: Note })
/** Body of `PUT /api/v1/dashboards/{id}`. `version` is the version that was edited; another one is a conflict. */
export const DashboardChange = z.strictObject({ version: Version, content: DashboardContent, note: Note })
/** Response of `DELETE /api/v1/dashboards/{id}`. */
export const DeletedDashboardResponse = createResponseSchema(z.object({ id: DashboardId }), z.object({}))

/** Response of `GET /api/v1/dashboards/{id}/versions`, newest first. */
export const DashboardVersionsResponse = createResponseSchema(
  z.array(DashboardVersion.omit({ content: true }).extend({ panels: z.int() })),
  z.object({ count: z.int() }),
)
/** Body of `POST /api/v1/dashboards/{id}/restore`: the version to restore, and the current one. */
export const DashboardRestore = z.strictObject({ version: Version, current: Version })

/**
 * Body of `POST /api/v1/dashboards/import`. `content` is checked after its schema version, so that a dashboard of a newer
 * release is reported as such.
 */
export const DashboardImport = z.strictObject({ content: z.looseObject({}) })

/** Query parameters of `GET /api/v1/dashboards/{id}/export`. The host determines the statements for Grafana. */
export const DashboardExportQuery = z.strictObject({
  format: z.enum(['json', 'grafana']).default('json'),
  hostId: hostId.default(0),
})
/** Response of `GET /api/v1/dashboards/{id}/export`: a document to save as a file. */
export const DashboardExport = z.looseObject({ title: z.string() })

/** Body of `POST /api/v1/dashboards/{id}/rows`: runs a stored statement of a panel or variable. */
export const DashboardStatementRequest = z
  .strictObject({
    hostId: bodyHostId.default(0),
    panel: z.string().max(32).optional(),
    variable: z.string().max(32).optional(),
    /** Values of the variables, by name; a list for a variable with several values, empty for all. */
    values: z
      .record(z.string().max(64), z.union([z.string().max(8_192), z.array(z.string().max(1_024)).max(100)]))
      .refine((given) => Object.keys(given).length <= 64, 'must have at most 64 values')
      .default({}),
  })
  .refine(
    ({ panel, variable }) => (panel === undefined) !== (variable === undefined),
    'must name either a panel or a variable',
  )

/** Path parameters of requests about one saved view. */
export const SavedViewPath = SavedView.pick({ id: true })
/** Query parameters of `GET /api/v1/saved-views`. */
export const SavedViewsQuery = z.strictObject({ table: DefinitionId })

const SavedViewEntry = SavedView.omit({ owner: true }).extend({ isShared: z.boolean() })
export type SavedViewEntry = z.infer<typeof SavedViewEntry>

/** Response of `GET /api/v1/saved-views`: the shared views and those of the caller, by name. */
export const SavedViewsResponse = createResponseSchema(
  z.array(SavedViewEntry),
  z.object({ count: z.int(), persistent: z.boolean() }),
)
/** Body of `POST /api/v1/saved-views`. A view with the same name, table and visibility is replaced. */
export const NewSavedView = z.strictObject({
  ...SavedView.pick({ table: true, name: true, query: true }).shape,
  isShared: z.boolean().default(false),
})
/** Response with one saved view. */
export const SavedViewResponse = createResponseSchema(SavedViewEntry, z.object({}))
