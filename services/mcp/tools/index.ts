import type { Tool } from '#shared/tools/tool.ts'
import { analyzePerformance } from './analyze-performance.ts'
import { diagnose } from './diagnose.ts'
import { exploreTableSchema } from './explore-table-schema.ts'
import { getAlerts } from './get-alerts.ts'
import { getChanges } from './get-changes.ts'
import { getFleetHealth } from './get-fleet-health.ts'
import { getMergeStatus } from './get-merge-status.ts'
import { getMetrics } from './get-metrics.ts'
import { getOptimizationRecommendations } from './get-optimization-recommendations.ts'
import { getRunningQueries } from './get-running-queries.ts'
import { getSlowQueries } from './get-slow-queries.ts'
import { getTableSchema } from './get-table-schema.ts'
import { listDatabases } from './list-databases.ts'
import { listHosts } from './list-hosts.ts'
import { listTables } from './list-tables.ts'
import { queryTool } from './query.ts'

/** All tools, in the order of the list. The first eleven are those of the specification. */
export const tools: readonly Tool[] = [
  queryTool,
  listDatabases,
  listTables,
  getTableSchema,
  getMetrics,
  getRunningQueries,
  getSlowQueries,
  getMergeStatus,
  exploreTableSchema,
  analyzePerformance,
  getOptimizationRecommendations,
  listHosts,
  getFleetHealth,
  getAlerts,
  getChanges,
  diagnose,
]
