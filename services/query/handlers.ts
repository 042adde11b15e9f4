import type { Handlers } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import { killMutation, killQuery, optimizeTable } from './actions/actions.ts'
import { advisingHandlers } from './advice/handlers.ts'
import { manage, management } from './management/manage.ts'
import type { WithConnections } from './connections/connections.ts'
import { connectionHandlers } from './connections/handlers.ts'
import { catalogue, definitionStatement } from './pages/catalogue.ts'
import { chart } from './pages/chart.ts'
import { charts } from './pages/charts.ts'
import { databaseTables, explorerHandlers } from './explorer/handlers.ts'
import { exportTable } from './pages/export-table.ts'
import { filterOptions, table } from './pages/table.ts'
import { exposition } from './exposition/exposition.ts'
import { executions, fingerprint, fingerprints } from './analysis/fingerprint.ts'
import { explain } from './explain/explain.ts'
import { hosts, hostStates, hostStatus, overview } from './status/host-status.ts'
import type { Parts } from './parts.ts'
import { queryDetail } from './analysis/query-detail.ts'
import { consoleHandlers } from './console/handlers.ts'
import { openRunning } from './console/running.ts'
import { comparison } from './comparison/comparison.ts'
import { settingsDiff } from './settings-diff/settings-diff.ts'
import { toolRows } from './tools/tool-rows.ts'
import { topology } from './topology/topology.ts'
import type { WithStore } from './rules/earlier.ts'
import { ruleHandlers } from './rules/handlers.ts'
import { insightHandlers } from './insights/handlers.ts'
import { pageViewHandlers } from './page-views/keep-page-views.ts'
import { repldbHandlers, type WithReplicationService } from './repldb/handlers.ts'
import { reportRowHandlers } from './reports/report-rows.ts'
import { structureFactHandlers } from './advice/structure.ts'
import { postgresSourceHandlers, type WithPostgresSource } from './postgres-source/handlers.ts'
import { ownCost } from './own-cost/own-cost.ts'

/** Returns the handler for the last probe results of all hosts; it sends no queries. */
export const fleet =
  ({ clock, hosts, probe }: Parts): Handlers<typeof query>['fleet'] =>
  async () =>
    hosts.list().map(({ id, key, name, group, tags }) => {
      const { state, load, checkedMs } = probe.known(key)
      const { checkedAtMs: _checkedAtMs, ...lastState } = state
      const ageMs = checkedMs === null ? null : Math.round(clock.elapsedMs() - checkedMs)
      return { id, key, name, group, tags: [...tags], ...lastState, ageMs, load }
    })

type QueryDeps = Parts & WithConnections & WithStore & WithPostgresSource & WithReplicationService

/** Returns the handlers of all methods of the query contract. */
export const handlers = (parts: QueryDeps): Handlers<typeof query> => {
  // The console and the tools share one limit of running statements per host.
  const running = openRunning()
  return {
    hosts: hosts(parts),
    hostStates: hostStates(parts),
    catalogue: catalogue(parts),
    hostStatus: hostStatus(parts),
    overview: overview(parts),
    chart: chart(parts),
    charts: charts(parts),
    table: table(parts),
    exportTable: exportTable(parts),
    filterOptions: filterOptions(parts),
    databaseTables: databaseTables(parts),
    definitionStatement: definitionStatement(parts),
    fingerprints: fingerprints(parts),
    fingerprint: fingerprint(parts),
    executions: executions(parts),
    queryDetail: queryDetail(parts),
    explain: explain(parts),
    exposition: exposition(parts),
    fleet: fleet(parts),
    ownCost: ownCost(parts),
    settingsDiff: settingsDiff(parts),
    comparison: comparison(parts),
    toolRows: toolRows(parts, running),
    topology: topology(parts),
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
    management: management(parts),
    manage: manage(parts),
  }
}
