/** A request that every generated client sends: the operation, its parameters and its body. */
export interface ClientCall {
  operationId: string
  parameters?: Readonly<Record<string, string | number>>
  body?: Readonly<Record<string, unknown>>
}

/** The requests of each generated client. */
export const clientCalls: readonly ClientCall[] = [
  { operationId: 'getLiveness' },
  { operationId: 'getVersion' },
  { operationId: 'getConfig' },
  { operationId: 'listHosts' },
  { operationId: 'getHostStatus', parameters: { hostId: 0 } },
  { operationId: 'getOverview', parameters: { hostId: 0 } },
  { operationId: 'listFleet' },
  { operationId: 'getCatalogue' },
  { operationId: 'getChart', parameters: { name: 'query-count', hostId: 0 } },
  { operationId: 'getCharts', body: { names: ['query-count'], hostId: 0 } },
  { operationId: 'getTablePage', parameters: { name: 'running-queries', hostId: 0 } },
  { operationId: 'listTables', parameters: { hostId: 0 } },
  { operationId: 'listDatabases', parameters: { hostId: 0 } },
  { operationId: 'listColumns', parameters: { hostId: 0, database: 'system', table: 'one' } },
  { operationId: 'runQuery', body: { hostId: 0, query: 'SELECT 1 AS one' } },
  { operationId: 'listQueryPatterns', parameters: { hostId: 0, limit: 5 } },
  { operationId: 'listChecks', parameters: { hostId: 0 } },
  { operationId: 'listAlerts' },
  { operationId: 'listInsights', parameters: { hostId: 0 } },
  { operationId: 'listDashboards' },
]
