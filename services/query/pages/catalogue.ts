import type { ServiceHandlers } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import type { UnavailableReason } from '#proto/unavailable-reason.ts'
import type { ParameterValue, Statement } from '../clickhouse/statement.ts'
import { applyExcludedUsersDefault } from '../definitions/parameters.ts'
import { buildTableStatement } from '../definitions/table-statement.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import { prepareChart } from './chart.ts'
import { prepareTablePage } from './prepare-table-page.ts'

/** Returns the handler for all charts and table pages, without their SQL. */
export const createCatalogueHandler =
  (parts: QueryHandlerDeps): ServiceHandlers<typeof query>['catalogue'] =>
  async () => {
    const { tables, ...all } = parts.definitions.catalogue
    return { ...all, tables: tables.map((table) => applyExcludedUsersDefault(table, parts.env)) }
  }

/** The default row limit of a table page. */
const defaultResultRows = 100

/** Returns the handler for the statement of a chart or a table page on one host. */
export const createDefinitionStatementHandler =
  (parts: QueryHandlerDeps): ServiceHandlers<typeof query>['definitionStatement'] =>
  async ({ kind, hostKey, name }, call) => {
    if (kind === 'table') {
      const request = { filters: [], parameters: {}, offset: 0 }
      const page = await prepareTablePage(parts, { hostKey, name }, call, (table, circumstances) =>
        buildTableStatement(table, request, { ...circumstances, limit: defaultResultRows }),
      )
      return 'unavailable' in page ? without(page.unavailable) : shown(page.statement)
    }
    const definition = parts.definitions.chart(name)
    const ready = await prepareChart(parts, parts.hosts.get(hostKey), definition, { parameters: {} }, call)
    return 'rows' in ready ? without(ready.unavailable) : shown(ready.statement)
  }

const shown = ({ sql, parameters = {} }: Statement) => {
  // Parameters of definitions have one value each.
  const single = Object.entries(parameters).flatMap(([name, value]): [string, ParameterValue][] =>
    typeof value === 'object' && value !== null ? [] : [[name, value]],
  )
  return { sql, parameters: Object.fromEntries(single), unavailable: null }
}

const without = (unavailable: UnavailableReason | null) => ({ sql: null, parameters: {}, unavailable })
