import type { Feature } from '#proto/call.ts'

/** What each feature is to people. */
export const featureWords: Readonly<Record<Feature, string>> = {
  OVERVIEW: 'Overview and fleet',
  AGENT: 'The agent',
  INSIGHTS: 'Insights, forecasts and reports',
  HEALTH: 'Health and alerts',
  QUERIES: 'Queries, fingerprints, SQL console',
  TABLES: 'Tables and explorer',
  METRICS: 'Metrics',
  DASHBOARD: 'Dashboards',
  SECURITY: 'Users, roles, sessions',
  LOGS: 'Logs of the hosts',
  SETTINGS: 'Settings of the hosts',
  BILLING: 'Billing',
  CLUSTER: 'Replication and clusters',
  OPERATIONS: 'Merges, mutations, backups',
  ACTIONS: 'Actions on hosts, audit log',
  MCP: 'Tool server',
  DOCS: 'Documentation',
  ABOUT: 'This page',
  REPLDB: 'Replication pipelines',
}
