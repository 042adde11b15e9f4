import type { Tool } from '#shared/tools/tool.ts'
import { analyzePerformance } from './analyze-performance.ts'
import { exploreTableSchema } from './explore-table-schema.ts'
import { getMergeStatus } from './get-merge-status.ts'
import { getMetrics } from './get-metrics.ts'
import { getOptimizationRecommendations } from './get-optimization-recommendations.ts'
import { getRunningQueries } from './get-running-queries.ts'
import { getSlowQueries } from './get-slow-queries.ts'
import { getTableSchema } from './get-table-schema.ts'
import { listDatabases } from './list-databases.ts'
import { listTables } from './list-tables.ts'
import { queryTool } from './query.ts'

/** All tools, in the order of the list. */
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
]
