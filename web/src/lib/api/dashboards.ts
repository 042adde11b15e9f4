import { queryOptions } from '@tanstack/svelte-query'
import type { DashboardContent } from '#proto/dashboards.ts'
import { call, type ResponseBody, type RouteBody, type RouteData } from './call.ts'
import type { StatementResult } from './console.ts'
import { createRouteQuery } from './route-query.ts'

/** Query key of the list of dashboards, and prefix of all queries about them. */
export const dashboardsKey = ['dashboards'] as const

export type DashboardEntry = RouteData<'GET /api/v1/dashboards'>[number]
export type DashboardResponse = ResponseBody<'GET /api/v1/dashboards/{id}'>
export type Dashboard = DashboardResponse['data']

export const dashboardsQuery = () => createRouteQuery(dashboardsKey, 'GET /api/v1/dashboards')

/** Query for one dashboard, in its current version or in an earlier one. */
export const dashboardQuery = (id: string, version?: number) =>
  queryOptions({
    queryKey: [...dashboardsKey, id, version ?? null],
    queryFn: ({ signal }) => call('GET /api/v1/dashboards/{id}', { path: { id }, query: { version }, signal }),
  })

export const dashboardVersionsQuery = (id: string) =>
  createRouteQuery([...dashboardsKey, id], 'GET /api/v1/dashboards/{id}/versions', { path: { id } })

export const createDashboard = (content: DashboardContent): Promise<DashboardResponse> =>
  call('POST /api/v1/dashboards', { body: { content } })

/** Saves the next version of a dashboard; `version` is the edited one. */
export const saveDashboard = (id: string, version: number, content: DashboardContent): Promise<DashboardResponse> =>
  call('PUT /api/v1/dashboards/{id}', { path: { id }, body: { version, content } })

export const deleteDashboard = (id: string) => call('DELETE /api/v1/dashboards/{id}', { path: { id } })

export const restoreDashboard = (id: string, version: number, current: number): Promise<DashboardResponse> =>
  call('POST /api/v1/dashboards/{id}/restore', { path: { id }, body: { version, current } })

/** Creates a dashboard from an exported document. */
export const importDashboard = (content: Record<string, unknown>): Promise<DashboardResponse> =>
  call('POST /api/v1/dashboards/import', { body: { content } })

/** Returns a dashboard as a document: in the format of this product, or for Grafana. */
export const exportDashboard = (id: string, format: 'json' | 'grafana', hostId: number) =>
  call('GET /api/v1/dashboards/{id}/export', { path: { id }, query: { format, hostId } })

/** Runs a statement that is stored in a dashboard, with values of its variables. */
export const runStoredStatement = (
  id: string,
  body: RouteBody<'POST /api/v1/dashboards/{id}/rows'>,
  signal: AbortSignal,
): Promise<StatementResult> => call('POST /api/v1/dashboards/{id}/rows', { path: { id }, body, signal })

const savedViewsKey = ['saved-views'] as const

/** Query for the saved views of a table page: the shared ones and those of the user. */
export const savedViewsQuery = (table: string) =>
  createRouteQuery([...savedViewsKey, table], 'GET /api/v1/saved-views', { query: { table } })

export const getSavedViewsKey = (table: string) => [...savedViewsKey, table]

export const saveTableView = (body: RouteBody<'POST /api/v1/saved-views'>) => call('POST /api/v1/saved-views', { body })

export const deleteTableView = (id: string) => call('DELETE /api/v1/saved-views/{id}', { path: { id } })
