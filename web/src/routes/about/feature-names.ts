import type { Feature } from '#proto/call.ts'

/** The display name of each feature. */
export const featureNames: Readonly<Record<Feature, string>> = {
  OVERVIEW: 'Overview and fleet',
  AGENT: 'Agent',
  INSIGHTS: 'Insights, forecasts and reports',
  HEALTH: 'Health and alerts',
  QUERIES: 'Queries, fingerprints, SQL console',
  TABLES: 'Tables and explorer',
  METRICS: 'Metrics',
  DASHBOARD: 'Dashboards',
  SECURITY: 'Users, roles, sessions',
  LOGS: 'Host logs',
  SETTINGS: 'Host settings',
  BILLING: 'Billing',
  CLUSTER: 'Replication and clusters',
  OPERATIONS: 'Merges, mutations, backups',
  ACTIONS: 'Actions on hosts, audit log',
  MCP: 'MCP server',
  DOCS: 'Documentation',
  ABOUT: 'About',
  REPLDB: 'Replication pipelines',
}
