import type { CallContext } from '#proto/call.ts'
import { bindPlaceholders, listVariablePlaceholders, type PlaceholderValues } from '#proto/dashboard-sql.ts'
import type { DashboardContent } from '#proto/dashboards.ts'
import { ServiceError } from '#proto/errors.ts'
import { ConsoleResponse } from '#proto/http/console.ts'
import {
  DashboardChange,
  DashboardExport,
  DashboardExportQuery,
  DashboardImport,
  DashboardPath,
  DashboardQuery,
  DashboardResponse,
  DashboardRestore,
  DashboardsResponse,
  DashboardStatementRequest,
  DashboardVersionsResponse,
  DeletedDashboardResponse,
  NewDashboard,
} from '#proto/http/dashboards.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { ignoreUnavailable } from '#shared/bus/failure.ts'
import { parseDashboard, requireConsistent } from '../dashboards/check-dashboard.ts'
import { nameAuthor } from '../dashboards/dashboards.ts'
import { exportToGrafana } from '../dashboards/export-to-grafana.ts'
import type { StoredDashboard } from '../dashboards/store.ts'
import type { Gateway } from '../gateway.ts'
import { defineDeleteRoute, defineGetRoute, definePostRoute, definePutRoute, type Route } from '../http-route.ts'
import { parseRequestInput } from '../request/parse.ts'
import { createSuccessBody } from '../response/envelope.ts'
import { streamStatement } from './console.ts'

const path = '/api/v1/dashboards'
const common = { feature: 'DASHBOARD', limit: 'data' } as const
const reading = { ...common, access: 'read' } as const
const writing = { ...common, access: 'write', query: noQuery } as const

const idOf = (given: Readonly<Record<string, string>>): string => parseRequestInput(DashboardPath, given).id

const list = defineGetRoute({
  ...reading,
  path,
  doc: 'Lists the dashboards by folder and title: those of users, of files and of the product',
  query: noQuery,
  answer: DashboardsResponse,
  handle: async (_request, { dashboards }) => {
    const { summaries, problems } = await dashboards.list()
    const { persistent } = dashboards.store
    return createSuccessBody(summaries, { count: summaries.length, persistent, problems: [...problems] })
  },
})

const read = defineGetRoute({
  ...reading,
  path: `${path}/{id}`,
  doc: 'Returns a dashboard in its current version or in an earlier one',
  query: DashboardQuery,
  answer: DashboardResponse,
  handle: async ({ path, query: { version } }, { dashboards }) => {
    const found = await dashboards.find(idOf(path))
    const { persistent } = dashboards.store
    if (version === undefined || version === found.version) return createSuccessBody(found, { persistent })
    const earlier = await requireVersion(dashboards, found.id, version)
    const { content, savedAtMs, savedBy } = earlier
    return createSuccessBody({ ...found, version, content, savedAtMs, savedBy }, { persistent })
  },
})

const requireVersion = async ({ store }: Gateway['dashboards'], id: string, version: number) => {
  const found = await store.version(id, version)
  if (found) return found
  throw new ServiceError('not-found', `the dashboard has no version ${version}; older versions may have been removed`, {
    details: { parameter: 'version' },
  })
}

/** Throws `invalid` for a dashboard that contradicts itself, or refers to definitions that its previous version did not. */
const requireValid = async (
  gateway: Gateway,
  content: DashboardContent,
  call: CallContext,
  previous?: DashboardContent,
): Promise<void> => {
  const known = await ignoreUnavailable(() => gateway.query.catalogue({}, call))
  // A definition may have been removed after the dashboard was saved; its panel must not prevent other changes.
  const kept = (kind: 'chart' | 'table') =>
    previous?.panels.flatMap((panel) => {
      if (panel.kind === 'chart' && kind === 'chart') return [{ name: panel.chart }]
      return panel.kind === 'table' && kind === 'table' ? [{ name: panel.table }] : []
    }) ?? []
  requireConsistent(
    content,
    known && { charts: [...known.charts, ...kept('chart')], tables: [...known.tables, ...kept('table')] },
  )
}

const toView = ({ note: _note, ...stored }: StoredDashboard) => ({ ...stored, managedBy: 'users' as const })
const savedBody = (stored: StoredDashboard, { dashboards }: Gateway) =>
  createSuccessBody(toView(stored), { persistent: dashboards.store.persistent })

const create = definePostRoute({
  ...writing,
  path,
  doc: 'Creates a dashboard',
  body: NewDashboard,
  answer: DashboardResponse,
  handle: async ({ body: { content, note }, call, requestId }, gateway) => {
    await requireValid(gateway, content, call)
    const action = { action: 'create-dashboard', host: null, target: { title: content.title } }
    const creating = () => gateway.dashboards.store.create({ content, note, savedBy: nameAuthor(call.identity) })
    return savedBody(await gateway.audit.of(action, { call, requestId }, creating), gateway)
  },
})

const importDashboard = definePostRoute({
  ...writing,
  path: `${path}/import`,
  doc: 'Creates a dashboard from an exported document. All problems are reported with their paths',
  body: DashboardImport,
  answer: DashboardResponse,
  handle: async ({ body, call, requestId }, gateway) => {
    const content = parseDashboard(body.content)
    await requireValid(gateway, content, call)
    const action = { action: 'import-dashboard', host: null, target: { title: content.title } }
    const creating = () =>
      gateway.dashboards.store.create({ content, note: 'Imported', savedBy: nameAuthor(call.identity) })
    return savedBody(await gateway.audit.of(action, { call, requestId }, creating), gateway)
  },
})

const update = definePutRoute({
  ...writing,
  path: `${path}/{id}`,
  doc: 'Saves a new version of a dashboard. 409 with the author and time of the current version if it is not the edited one',
  refuses: [409],
  body: DashboardChange,
  answer: DashboardResponse,
  handle: async ({ path, body: { version, content, note }, call, requestId }, gateway) => {
    const id = idOf(path)
    await gateway.dashboards.requireEditable(id)
    await requireValid(gateway, content, call, (await gateway.dashboards.find(id)).content)
    const action = { action: 'change-dashboard', host: null, target: { id, title: content.title } }
    const save = { content, note, savedBy: nameAuthor(call.identity) }
    const changing = () => gateway.dashboards.store.update(id, version, save)
    return savedBody(await gateway.audit.of(action, { call, requestId }, changing), gateway)
  },
})

const remove = defineDeleteRoute({
  ...writing,
  path: `${path}/{id}`,
  doc: 'Deletes a dashboard with all its versions',
  refuses: [409],
  answer: DeletedDashboardResponse,
  handle: async ({ path, call, requestId }, gateway) => {
    const id = idOf(path)
    await gateway.dashboards.requireEditable(id)
    const { content } = await gateway.dashboards.find(id)
    const action = { action: 'delete-dashboard', host: null, target: { id, title: content.title } }
    await gateway.audit.of(action, { call, requestId }, () => gateway.dashboards.store.remove(id))
    return createSuccessBody({ id }, {})
  },
})

const versions = defineGetRoute({
  ...reading,
  path: `${path}/{id}/versions`,
  doc: 'Lists the retained versions of a dashboard, newest first',
  query: noQuery,
  answer: DashboardVersionsResponse,
  handle: async ({ path }, { dashboards }) => {
    const { id } = await dashboards.find(idOf(path))
    const found = await dashboards.store.versions(id)
    return createSuccessBody(
      found.map(({ content, version, savedAtMs, savedBy, note }) => ({
        version,
        savedAtMs,
        savedBy,
        note,
        panels: content.panels.length,
      })),
      { count: found.length },
    )
  },
})

const restore = definePostRoute({
  ...writing,
  path: `${path}/{id}/restore`,
  doc: 'Saves an earlier version of a dashboard as its newest version',
  refuses: [409],
  body: DashboardRestore,
  answer: DashboardResponse,
  handle: async ({ path, body: { version, current }, call, requestId }, gateway) => {
    const id = idOf(path)
    await gateway.dashboards.requireEditable(id)
    const { content } = await requireVersion(gateway.dashboards, id, version)
    const action = { action: 'restore-dashboard', host: null, target: { id, title: content.title } }
    const save = { content, note: `Restored version ${version}`, savedBy: nameAuthor(call.identity) }
    const restoring = () => gateway.dashboards.store.update(id, current, save)
    return savedBody(await gateway.audit.of(action, { call, requestId }, restoring), gateway)
  },
})

const exportDashboard = defineGetRoute({
  ...reading,
  path: `${path}/{id}/export`,
  doc: 'Returns a dashboard as a document: for another installation, or for the ClickHouse data source of Grafana',
  query: DashboardExportQuery,
  answer: DashboardExport,
  handle: async ({ path, query: { format, hostId }, call }, gateway) => {
    const { content } = await gateway.dashboards.find(idOf(path))
    return format === 'json' ? content : exportToGrafana(content, hostId, gateway, call)
  },
})

/**
 * Runs a statement that is stored in a dashboard. Callers choose only the values of its variables, which the host binds,
 * so read access is sufficient.
 */
const runStatement: Route = {
  ...reading,
  method: 'POST',
  path: `${path}/{id}/rows`,
  doc: 'Runs the stored statement of a panel or variable with values of the variables, and streams the rows',
  query: noQuery,
  body: DashboardStatementRequest,
  answer: ConsoleResponse,
  async respond({ path, body, call }, gateway, reply) {
    const { hostId, values, ...wanted } = parseRequestInput(DashboardStatementRequest, body)
    const { content } = await gateway.dashboards.find(idOf(path))
    const { variables } = content
    requireShapes(values, variables)
    const { query, parameters, missing } = bindPlaceholders(findStatement(content, wanted), values, variables)
    const [unset] = missing
    if (unset !== undefined)
      throw new ServiceError('invalid', `values.${unset} is required`, { details: { parameter: `values.${unset}` } })
    await reply.rows(await streamStatement({ hostId, query, parameters }, call, gateway))
  },
}

/** Throws `invalid` for a list as the value of a placeholder with one value, and vice versa. */
const requireShapes = (values: PlaceholderValues, variables: DashboardContent['variables']): void => {
  const types: Record<string, string> = Object.assign({}, ...variables.map(listVariablePlaceholders))
  for (const [name, value] of Object.entries(values)) {
    const isList = types[name]?.startsWith('Array') === true
    if (isList === Array.isArray(value)) continue
    const shape = isList ? 'a list of texts, empty for all values' : 'one text, as the variable has one value'
    throw new ServiceError('invalid', `values.${name} must be ${shape}`, { details: { parameter: `values.${name}` } })
  }
}

const findStatement = (
  { panels, variables }: DashboardContent,
  { panel, variable }: { panel?: string | undefined; variable?: string | undefined },
): string => {
  const found = panels.find(({ id }) => id === panel)
  if (found?.kind === 'sql') return found.sql
  if (found?.kind === 'slo' && found.source.kind === 'sql') return found.source.sql
  const named = variables.find(({ name }) => name === variable)
  if (named?.kind === 'query') return named.sql
  throw new ServiceError(
    'not-found',
    panel === undefined
      ? `the saved dashboard has no variable "${variable ?? ''}" with a statement`
      : `the saved dashboard has no panel "${panel}" with a statement`,
  )
}

/** Routes of dashboards. */
export const dashboardRoutes: readonly Route[] = [
  list,
  create,
  importDashboard,
  read,
  update,
  remove,
  versions,
  restore,
  exportDashboard,
  runStatement,
]
