import type { AgentTool } from '../tool-sources.ts'
import { askUser } from './ask-user.ts'
import { compareHosts } from './compare-hosts.ts'
import { estimateMutationImpact } from './estimate-mutation-impact.ts'
import { estimateQueryCost } from './estimate-query-cost.ts'
import { explainAnomalyScore } from './explain-anomaly-score.ts'
import { explainQuery } from './explain-query.ts'
import { findReferenceQuery } from './find-reference-query.ts'
import { forecastDiskCapacity } from './forecast-disk-capacity.ts'
import { getDiskUsage } from './get-disk-usage.ts'
import { getFailedQueries } from './get-failed-queries.ts'
import { getPageData } from './get-page-data.ts'
import { getPostgresActivity } from './get-postgres-activity.ts'
import { getPostgresLocks } from './get-postgres-locks.ts'
import { getPostgresReplication } from './get-postgres-replication.ts'
import { getPostgresTableStats } from './get-postgres-table-stats.ts'
import { getRepldbMetrics } from './get-repldb-metrics.ts'
import { getRepldbMirrorStatus } from './get-repldb-mirror-status.ts'
import { getReplicationStatus } from './get-replication-status.ts'
import { getSchemaAdvice } from './get-schema-advice.ts'
import { getTableParts } from './get-table-parts.ts'
import { getTuningSuggestions } from './get-tuning-suggestions.ts'
import { listPostgresStatementPatterns } from './list-postgres-statement-patterns.ts'
import { listSlowQueryPatterns } from './list-slow-query-patterns.ts'
import { queryAndVisualize } from './query-and-visualize.ts'

/** The tools of the agent in order, without `load_skill` and without the tools of the MCP server. */
export const agentTools: readonly AgentTool[] = [
  findReferenceQuery,
  getDiskUsage,
  getReplicationStatus,
  askUser,
  queryAndVisualize,
  getFailedQueries,
  listSlowQueryPatterns,
  explainQuery,
  estimateQueryCost,
  getTableParts,
  estimateMutationImpact,
  compareHosts,
  getPageData,
  forecastDiskCapacity,
  explainAnomalyScore,
  getSchemaAdvice,
  getTuningSuggestions,
]

/** Additional tools when a PostgreSQL source is configured. */
export const postgresTools: readonly AgentTool[] = [
  getPostgresActivity,
  listPostgresStatementPatterns,
  getPostgresTableStats,
  getPostgresReplication,
  getPostgresLocks,
]

/** Additional tools when the agent may read from a replication service. */
export const repldbTools: readonly AgentTool[] = [getRepldbMirrorStatus, getRepldbMetrics]
