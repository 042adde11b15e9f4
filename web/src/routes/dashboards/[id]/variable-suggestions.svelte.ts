import { createQuery } from '@tanstack/svelte-query'
import { bindPlaceholders } from '#proto/dashboard-sql.ts'
import type { DashboardVariable } from '#proto/dashboards.ts'
import { call } from '#lib/api/call.ts'
import { runStoredStatement } from '#lib/api/dashboards.ts'
import { tableListQuery } from '#lib/api/queries.ts'
import { view } from '#lib/state/view.svelte.ts'
import type { DashboardContext } from './context.ts'
import { readTimeValues } from './time-values.ts'
import { listHostOptions, selectValues } from './variables.ts'

interface SuggestionRequest {
  variable: DashboardVariable
  /** Suggestions are fetched when the field is used. */
  isUsed: boolean
  /** Text that tables must contain. */
  typed: string
}

export interface Suggestions {
  readonly list: string[]
  readonly error: Error | null
  readonly isLoading: boolean
}

const maxSuggestions = 500

/** Returns the values that a variable offers: hosts, groups, users, tables, or the rows of its statement. */
export const createSuggestions = (dashboard: DashboardContext, request: () => SuggestionRequest): Suggestions => {
  const host = $derived.by(() => {
    const { variable } = request()
    return dashboard.hostOf('host' in variable && variable.host !== undefined ? `{${variable.host}}` : '')
  })
  const isFetched = (kind: DashboardVariable['kind']) =>
    request().isUsed && request().variable.kind === kind && host !== undefined
  const users = createQuery(() => ({
    queryKey: ['dashboard-users', host],
    enabled: isFetched('user'),
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      call('GET /api/v1/tables/{name}/filter-options', {
        path: { name: 'history-queries' },
        query: { hostId: host ?? 0, column: 'user' },
        signal,
      }),
  }))
  const tables = createQuery(() => ({ ...tableListQuery(host ?? 0, request().typed), enabled: isFetched('table') }))
  const rows = createRowsQuery(dashboard, () => ({ variable: request().variable, host, isFetched: isFetched('query') }))
  const groups = $derived([...new Set(dashboard.hosts.flatMap(({ group }) => group ?? []))].toSorted())
  const list = $derived.by((): string[] => {
    const { variable } = request()
    if (variable.kind === 'host') return listHostOptions(variable, dashboard.hosts, dashboard.values)
    if (variable.kind === 'group') return groups
    if (variable.kind === 'list') return variable.options
    if (variable.kind === 'user') return users.data?.data.map((option) => String(option.value)) ?? []
    if (variable.kind === 'table') return tables.data?.data.map((table) => `${table.database}.${table.table}`) ?? []
    return rows.data?.data.rows.map(([first]) => String(first)).slice(0, maxSuggestions) ?? []
  })
  return {
    get list() {
      return list
    },
    get error() {
      return users.error ?? tables.error ?? rows.error
    },
    get isLoading() {
      return users.isFetching || tables.isFetching || rows.isFetching
    },
  }
}

interface RowsRequest {
  variable: DashboardVariable
  host: number | undefined
  isFetched: boolean
}

/** Fetches the rows of the statement of a variable. A saved statement needs read access only. */
const createRowsQuery = (dashboard: DashboardContext, request: () => RowsRequest) =>
  createQuery(() => {
    const { variable, host, isFetched } = request()
    const sql = variable.kind === 'query' ? variable.sql : ''
    const isSaved = dashboard.saved?.variables.some(
      (each) => each.kind === 'query' && each.name === variable.name && each.sql === sql,
    )
    const values = selectValues(sql, dashboard.values)
    return {
      queryKey: ['dashboard-options', dashboard.id, host, sql, values],
      enabled: isFetched && sql !== '',
      queryFn: ({ signal }: { signal: AbortSignal }) => {
        const given = selectValues(sql, { ...readTimeValues(view.range), ...values })
        if (isSaved && dashboard.id !== null)
          return runStoredStatement(dashboard.id, { hostId: host ?? 0, variable: variable.name, values: given }, signal)
        const { query, parameters } = bindPlaceholders(sql, given, dashboard.content.variables)
        const body = { hostId: host ?? 0, query, parameters, maxRows: maxSuggestions }
        return call('POST /api/v1/explorer/query', { signal, body })
      },
    }
  })
