import { createQuery, type CreateQueryResult } from '@tanstack/svelte-query'
import { bindPlaceholders } from '#proto/dashboard-sql.ts'
import { call } from '#lib/api/call.ts'
import type { StatementResult } from '#lib/api/console.ts'
import { runStoredStatement } from '#lib/api/dashboards.ts'
import { keepPreviousDataForKey } from '#lib/api/queries.ts'
import type { TimeRange } from '#lib/state/range.ts'
import { view } from '#lib/state/view.svelte.ts'
import type { DashboardContext } from './context.ts'
import { readTimeValues } from './time-values.ts'
import { getSavedPanelId } from './repeat-panels.ts'
import { isStatementSaved, selectValues } from './variables.ts'

interface StatementPanel {
  id: string
  sql: string
  host: string
  /** The time range, if it is not that of the page. */
  range?: TimeRange | undefined
}

/** Maximum number of rows of a panel. */
const maxRows = 5_000

/**
 * Fetches the rows of a panel with a statement. A saved statement runs with read access; a changed one runs as in the
 * console, which requires write access.
 */
export const createStatementRows = (
  dashboard: DashboardContext,
  panel: () => StatementPanel,
): CreateQueryResult<StatementResult> =>
  createQuery(() => {
    const { id: shownId, sql, host: reference, range = view.range } = panel()
    const id = getSavedPanelId(shownId)
    const host = dashboard.hostOf(reference)
    const values = selectValues(sql, dashboard.valuesOf(shownId))
    const isSaved = isStatementSaved(dashboard.saved, id, sql)
    return {
      queryKey: ['dashboard-rows', dashboard.id, id, host, sql, values, range, isSaved],
      enabled: host !== undefined && sql !== '',
      refetchInterval: range.kind === 'last' && view.refreshMs,
      placeholderData: keepPreviousDataForKey(['dashboard-rows', dashboard.id, id, host]),
      queryFn: ({ signal }: { signal: AbortSignal }) => {
        const given = { ...readTimeValues(range), ...values }
        const bound = selectValues(sql, given)
        if (isSaved && dashboard.id !== null)
          return runStoredStatement(dashboard.id, { hostId: host ?? 0, panel: id, values: bound }, signal)
        const { query, parameters, missing } = bindPlaceholders(sql, bound, dashboard.content.variables)
        const [unset] = missing
        if (unset !== undefined) throw new Error(`unknown variable "{${unset}}"; add it to the variables`)
        return call('POST /api/v1/explorer/query', { signal, body: { hostId: host ?? 0, query, parameters, maxRows } })
      },
    }
  })
