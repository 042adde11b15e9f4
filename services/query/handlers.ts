import type { Handlers } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import { killMutation, killQuery, optimizeTable } from './actions/actions.ts'
import { advisingHandlers } from './advice/handlers.ts'
import { manage, managementHandler } from './management/manage.ts'
import type { ConnectionHandlerDeps } from './connections/connections.ts'
import { connectionHandlers } from './connections/handlers.ts'
import { catalogueHandler, definitionStatementHandler } from './pages/catalogue.ts'
import { chartHandler } from './pages/chart.ts'
import { chartsHandler } from './pages/charts.ts'
import { databaseTablesHandler, explorerHandlers } from './explorer/handlers.ts'
import { exportTable } from './pages/export-table.ts'
import { filterOptionsHandler, tableHandler } from './pages/table.ts'
import { expositionHandler } from './exposition/exposition.ts'
import { executionsHandler, fingerprintHandler, fingerprintsHandler } from './analysis/fingerprint.ts'
import { explain } from './explain/explain.ts'
import { hostsHandler, hostStatesHandler, hostStatusHandler, overviewHandler } from './status/host-status.ts'
import type { QueryHandlerDeps } from './handler-deps.ts'
import { queryDetailHandler } from './analysis/query-detail.ts'
import { consoleHandlers } from './console/handlers.ts'
import { openRunRegistry } from './console/run-registry.ts'
import { comparisonHandler } from './comparison/comparison.ts'
import { settingsDiffHandler } from './settings-diff/settings-diff.ts'
import { toolRowsHandler } from './tools/tool-rows.ts'
import { topologyHandler } from './topology/topology.ts'
import type { SweepStateDeps } from './rules/sweep-state.ts'
import { ruleHandlers } from './rules/handlers.ts'
import { insightHandlers } from './insights/handlers.ts'
import { pageViewHandlers } from './page-views/keep-page-views.ts'
import { repldbHandlers, type ReplicationServiceDeps } from './repldb/handlers.ts'
import { reportRowHandlers } from './reports/report-rows.ts'
import { structureFactHandlers } from './advice/structure.ts'
import { postgresSourceHandlers, type PostgresSourceDeps } from './postgres-source/handlers.ts'
import { ownCostHandler } from './own-cost/own-cost.ts'

/** Returns the handler for the last probe results of all hosts; it sends no queries. */
export const fleetHandler =
  ({ clock, hosts, probe }: QueryHandlerDeps): Handlers<typeof query>['fleet'] =>
  async () =>
    hosts.list().map(({ id, key, name, group, tags }) => {
      const { state, load, checkedMs } = probe.known(key)
      const { checkedAtMs: _checkedAtMs, ...lastState } = state
      const ageMs = checkedMs === null ? null : Math.round(clock.elapsedMs() - checkedMs)
      return { id, key, name, group, tags: [...tags], ...lastState, ageMs, load }
    })

type QueryDeps = QueryHandlerDeps & ConnectionHandlerDeps & SweepStateDeps & PostgresSourceDeps & ReplicationServiceDeps

/** Returns the handlers of all methods of the query contract. */
export const createHandlers = (parts: QueryDeps): Handlers<typeof query> => {
  // The console and the tools share one limit of running statements per host.
  const running = openRunRegistry()
  return {
    hosts: hostsHandler(parts),
    hostStates: hostStatesHandler(parts),
    catalogue: catalogueHandler(parts),
    hostStatus: hostStatusHandler(parts),
    overview: overviewHandler(parts),
    chart: chartHandler(parts),
    charts: chartsHandler(parts),
    table: tableHandler(parts),
    exportTable: exportTable(parts),
    filterOptions: filterOptionsHandler(parts),
    databaseTables: databaseTablesHandler(parts),
    definitionStatement: definitionStatementHandler(parts),
    fingerprints: fingerprintsHandler(parts),
    fingerprint: fingerprintHandler(parts),
    executions: executionsHandler(parts),
    queryDetail: queryDetailHandler(parts),
    explain: explain(parts),
    exposition: expositionHandler(parts),
    fleet: fleetHandler(parts),
    ownCost: ownCostHandler(parts),
    settingsDiff: settingsDiffHandler(parts),
    comparison: comparisonHandler(parts),
    toolRows: toolRowsHandler(parts, running),
    topology: topologyHandler(parts),
    ...connectionHandlers(parts),
    ...consoleHandlers(parts, running),
    ...explorerHandlers(parts),
    ...ruleHandlers(parts),
    ...advisingHandlers(parts),
    ...insightHandlers(parts),
    ...reportRowHandlers(parts),
    ...structureFactHandlers(parts),
    ...postgresSourceHandlers(parts),
    ...repldbHandlers(parts),
    ...pageViewHandlers(parts),
    killQuery: killQuery(parts),
    optimizeTable: optimizeTable(parts),
    killMutation: killMutation(parts),
    management: managementHandler(parts),
    manage: manage(parts),
  }
}
