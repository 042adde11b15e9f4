import { z } from 'zod'
import { maxHours } from './time-limits.ts'
import { DefinitionId, Unit } from './catalogue.ts'

/** The newest format of dashboards that this release reads and writes. */
export const dashboardSchemaVersion = 1
/** Maximum number of panels of a dashboard. */
export const maxPanels = 100
/** Maximum number of columns of the grid. */
export const gridColumns = 12

const maxRow = 10_000
/** Limits of an objective in percent. An objective of 100 would leave no error budget. */
const [minObjective, maxObjective] = [0.001, 99.999]
const text = (max: number) => z.string().max(max, `must not be longer than ${max} characters`)

/** Id of a dashboard: generated, or derived from the name of a file. */
export const DashboardId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,79}$/, 'must be 1 to 80 lower case letters, digits and dashes')

const VariableName = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,31}$/, 'must be 1 to 32 lower case letters, digits and _, and start with a letter')
const Sql = text(20_000).min(1, 'must not be empty')

/** Whether a variable can have several values, and whether it offers all values at once. */
const selectionFields = { multi: z.boolean().default(false), includeAll: z.boolean().default(false) }
const variableFields = { name: VariableName, label: text(60).default(''), default: text(1_024).default('') }

/**
 * A variable of a dashboard. Its value is chosen above the panels, and bound to the placeholder `{name}` of their
 * statements. `host` and `group` name the variables on which the options depend. With `multi` or `includeAll`, the value is
 * a list, which is empty for all values.
 */
export const DashboardVariable = z.discriminatedUnion('kind', [
  z.strictObject({ ...variableFields, ...selectionFields, kind: z.literal('host'), group: VariableName.optional() }),
  z.strictObject({ ...variableFields, ...selectionFields, kind: z.literal('group') }),
  z.strictObject({ ...variableFields, ...selectionFields, kind: z.literal('user'), host: VariableName.optional() }),
  z.strictObject({ ...variableFields, ...selectionFields, kind: z.literal('table'), host: VariableName.optional() }),
  z.strictObject({
    ...variableFields,
    ...selectionFields,
    kind: z.literal('list'),
    options: z.array(text(1_024)).min(1).max(100, 'must have at most 100 items'),
  }),
  z.strictObject({ ...variableFields, kind: z.literal('text') }),
  z.strictObject({
    ...variableFields,
    ...selectionFields,
    kind: z.literal('query'),
    sql: Sql,
    host: VariableName.optional(),
  }),
])
export type DashboardVariable = z.infer<typeof DashboardVariable>

const parameters = z
  .record(z.string().regex(/^[a-z][a-z_]{0,31}$/, 'must be a parameter name'), text(1_024))
  .refine((given) => Object.keys(given).length <= 20, 'must have at most 20 values')
  .default({})

const panelFields = {
  id: z.string().regex(/^[a-z0-9-]{1,32}$/, 'must be 1 to 32 lower case letters, digits and dashes'),
  x: z
    .int()
    .min(0)
    .max(gridColumns - 1),
  y: z.int().min(0).max(maxRow),
  w: z.int().min(1).max(gridColumns),
  h: z.int().min(1).max(100),
  title: text(100).default(''),
  /** Name of the host, or `{name}` of a host variable. Empty for the host of the page. */
  host: text(256).default(''),
}

/** How the rows of a statement are shown. */
const SqlView = z.enum(['time', 'bars', 'number', 'table'])

/** The measurement of an SLO: a statement that returns `good` and `total`, or a value of a catalogue chart. */
const SloSource = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('sql'), sql: Sql }),
  z.strictObject({
    kind: z.literal('chart'),
    chart: DefinitionId,
    column: text(128).min(1, 'must name a column'),
    comparison: z.enum(['below', 'above']),
    threshold: z.number(),
  }),
])

const TextFilter = text(1_200)

/** A panel of a dashboard. */
export const DashboardPanel = z.discriminatedUnion('kind', [
  z.strictObject({ ...panelFields, kind: z.literal('chart'), chart: DefinitionId, parameters }),
  z.strictObject({
    ...panelFields,
    kind: z.literal('table'),
    table: DefinitionId,
    parameters,
    search: text(256).default(''),
    filters: z.array(TextFilter).max(20, 'must have at most 20 items').default([]),
    sort: text(140).default(''),
    limit: z.int().min(1).max(200).default(20),
  }),
  z.strictObject({ ...panelFields, kind: z.literal('sql'), sql: Sql, view: SqlView, unit: Unit.default('none') }),
  z.strictObject({ ...panelFields, kind: z.literal('text'), markdown: text(20_000).default('') }),
  z.strictObject({
    ...panelFields,
    kind: z.literal('slo'),
    /** Target share of good events, in percent. */
    objective: z
      .number()
      .min(minObjective, `must be at least ${minObjective}`)
      .max(maxObjective, `must be at most ${maxObjective}`),
    windowDays: z.int().min(1).max(90),
    source: SloSource,
  }),
  z.strictObject({
    ...panelFields,
    kind: z.literal('alerts'),
    scope: z.enum(['host', 'all']).default('all'),
    severity: z.enum(['any', 'critical']).default('any'),
    limit: z.int().min(1).max(50).default(10),
  }),
])
export type DashboardPanel = z.infer<typeof DashboardPanel>

/** The content of a dashboard, as stored, exported and provisioned. */
export const DashboardContent = z.strictObject({
  schemaVersion: z.literal(dashboardSchemaVersion),
  title: z.string().trim().min(1, 'must not be empty').max(100, 'must not be longer than 100 characters'),
  description: text(500).default(''),
  /** Name of the folder; empty for none. */
  folder: z.string().trim().max(60, 'must not be longer than 60 characters').default(''),
  /** Default time range in hours. */
  lastHours: z.int().min(1).max(maxHours).default(24),
  variables: z.array(DashboardVariable).max(20, 'must have at most 20 items').default([]),
  panels: z.array(DashboardPanel).max(maxPanels, `must have at most ${maxPanels} items`).default([]),
})
export type DashboardContent = z.infer<typeof DashboardContent>

/** A stored version of a dashboard. */
export const DashboardVersion = z.object({
  version: z.int().min(1),
  savedAtMs: z.int(),
  savedBy: z.string(),
  note: z.string(),
  content: DashboardContent,
})
export type DashboardVersion = z.infer<typeof DashboardVersion>

/** A named view of a table page: the search parameters with its filters, sort order and columns. */
export const SavedView = z.object({
  id: z.string().regex(/^[a-z0-9-]{1,64}$/),
  table: DefinitionId,
  name: z.string().trim().min(1, 'must not be empty').max(60, 'must not be longer than 60 characters'),
  /** Parameters of the page, in the format of a query string. */
  query: text(8_192),
  /** Subject of the owner; null for a shared view. */
  owner: z.string().max(256).nullable(),
  savedAtMs: z.int(),
})
export type SavedView = z.infer<typeof SavedView>
