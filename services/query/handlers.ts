import type { ServiceHandlers } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import { createKillMutationHandler, createKillQueryHandler, createOptimizeTableHandler } from './actions/actions.ts'
import { createAdviceHandlers } from './advice/handlers.ts'
import { createManagedHostHandlers, type ManagedHostDeps } from './managed-hosts/handlers.ts'
import { createManageHandler, createManagementStatusHandler } from './access-management/manage-access.ts'
import type { ConnectionHandlerDeps } from './connections/connections.ts'
import { createConnectionHandlers } from './connections/handlers.ts'
import { createCatalogueHandler, createDefinitionStatementHandler } from './pages/catalogue.ts'
import { createChartHandler } from './pages/chart.ts'
import { createChartsHandler } from './pages/charts.ts'
import { createDatabaseTablesHandler, createExplorerHandlers } from './explorer/handlers.ts'
import { createExportTableHandler } from './pages/export-table.ts'
import { createFilterOptionsHandler, createTableHandler } from './pages/table.ts'
import { createExpositionHandler } from './exposition/exposition.ts'
import { createPatternChangesHandler } from './analysis/pattern-changes.ts'
import { createExecutionsHandler, createFingerprintHandler, createFingerprintsHandler } from './analysis/fingerprint.ts'
import { createExplainHandler } from './explain/explain.ts'
import {
  createHostsHandler,
  createHostStatesHandler,
  createHostStatusHandler,
  createOverviewHandler,
} from './status/host-status.ts'
import type { QueryHandlerDeps } from './handler-deps.ts'
import { createQueryDetailHandler } from './analysis/query-detail.ts'
import { createConsoleHandlers } from './console/handlers.ts'
import { openRunRegistry } from './console/run-registry.ts'
import { createComparisonHandler } from './comparison/comparison.ts'
import { createSchemaDiffHandler } from './schema-diff/schema-diff.ts'
import { createSettingsDiffHandler } from './settings-diff/settings-diff.ts'
import { createToolRowsHandler } from './tools/tool-rows.ts'
import { createTopologyHandler } from './topology/topology.ts'
import type { SweepStateDeps } from './rules/sweep-state.ts'
import { createRuleHandlers } from './rules/handlers.ts'
import { createObjectChangesHandler } from './history/object-changes.ts'
import { createHistoryHandlers } from './history/last-hour.ts'
import { createInsightHandlers } from './insights/handlers.ts'
import { createPageViewHandlers } from './page-views/handlers.ts'
import { createRepldbHandlers, type ReplicationServiceDeps } from './repldb/handlers.ts'
import { createReportRowHandlers } from './reports/report-rows.ts'
import { createStructureFactHandlers } from './advice/structure-facts.ts'
import { createPostgresSourceHandlers, type PostgresSourceDeps } from './postgres-source/handlers.ts'
import { createOwnCostHandler } from './own-cost/own-cost.ts'

/** Returns the handler for the last probe results of all hosts; it sends no queries. */
export const createFleetHandler =
  ({ clock, hosts, probe }: QueryHandlerDeps): ServiceHandlers<typeof query>['fleet'] =>
  async () =>
    hosts.list().map(({ id, key, name, group, tags }) => {
      const { state, load, checkedMs } = probe.known(key)
      const { checkedAtMs: _checkedAtMs, ...lastState } = state
      const ageMs = checkedMs === null ? null : Math.round(clock.elapsedMs() - checkedMs)
      return { id, key, name, group, tags: [...tags], ...lastState, ageMs, load }
    })

type QueryDeps = QueryHandlerDeps &
  ManagedHostDeps &
  ConnectionHandlerDeps &
  SweepStateDeps &
  PostgresSourceDeps &
  ReplicationServiceDeps

/** Returns the handlers of all methods of the query contract. */
export const createHandlers = (parts: QueryDeps): ServiceHandlers<typeof query> => {
  // The console and the tools share one limit of running statements per host.
  const running = openRunRegistry()
  return {
    hosts: createHostsHandler(parts),
    hostStates: createHostStatesHandler(parts),
    catalogue: createCatalogueHandler(parts),
    hostStatus: createHostStatusHandler(parts),
    overview: createOverviewHandler(parts),
    chart: createChartHandler(parts),
    charts: createChartsHandler(parts),
    table: createTableHandler(parts),
    exportTable: createExportTableHandler(parts),
    filterOptions: createFilterOptionsHandler(parts),
    databaseTables: createDatabaseTablesHandler(parts),
    definitionStatement: createDefinitionStatementHandler(parts),
    fingerprints: createFingerprintsHandler(parts),
    fingerprint: createFingerprintHandler(parts),
    executions: createExecutionsHandler(parts),
    patternChanges: createPatternChangesHandler(parts),
    queryDetail: createQueryDetailHandler(parts),
    explain: createExplainHandler(parts),
    exposition: createExpositionHandler(parts),
    fleet: createFleetHandler(parts),
    ownCost: createOwnCostHandler(parts),
    schemaDiff: createSchemaDiffHandler(parts),
    settingsDiff: createSettingsDiffHandler(parts),
    comparison: createComparisonHandler(parts),
    toolRows: createToolRowsHandler(parts, running),
    topology: createTopologyHandler(parts),
    ...createConnectionHandlers(parts),
    ...createManagedHostHandlers(parts),
    ...createConsoleHandlers(parts, running),
    ...createExplorerHandlers(parts),
    ...createRuleHandlers(parts),
    ...createAdviceHandlers(parts),
    ...createInsightHandlers(parts),
    ...createReportRowHandlers(parts),
    ...createStructureFactHandlers(parts),
    ...createPostgresSourceHandlers(parts),
    ...createRepldbHandlers(parts),
    ...createPageViewHandlers(parts),
    ...createHistoryHandlers(parts),
    objectChanges: createObjectChangesHandler(parts),
    killQuery: createKillQueryHandler(parts),
    optimizeTable: createOptimizeTableHandler(parts),
    killMutation: createKillMutationHandler(parts),
    management: createManagementStatusHandler(parts),
    manage: createManageHandler(parts),
  }
}
