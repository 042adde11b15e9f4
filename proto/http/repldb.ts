import { z } from 'zod'
import { RepldbLogPatterns, RepldbOverview, RepldbStatus } from '../repldb.ts'
import { RepldbLogLevel, RepldbName } from '../repldb-api.ts'
import { createResponseSchema } from './response.ts'
import { textParameter } from './parameters.ts'

/** Responses with data of the replication service have no metadata. */
const emptyMetadata = z.object({})

/** Returns the schema of a response with data of the replication service. */
export const createRepldbResponseSchema = <D extends z.ZodType>(data: D) => createResponseSchema(data, emptyMetadata)

/** Response of `GET /api/v1/repldb-status`, with status 200 in every state. */
export const RepldbStatusResponse = createRepldbResponseSchema(RepldbStatus)
/** Response of `GET /api/v1/repldb/overview`. */
export const RepldbOverviewResponse = createRepldbResponseSchema(RepldbOverview)
/** Response of `GET /api/v1/repldb/log-patterns`. */
export const RepldbLogPatternsResponse = createRepldbResponseSchema(RepldbLogPatterns)
/** Query parameters of `GET /api/v1/repldb/log-patterns`. Without `mirror`, it returns the patterns of all mirrors. */
export const RepldbLogPatternsQuery = z.strictObject({
  mirror: textParameter.pipe(RepldbName).optional(),
  level: textParameter.pipe(RepldbLogLevel).default('all'),
})

/**
 * The other paths below `/api/v1/repldb/` are the read-only paths of the replication service; `data` is its body
 * (`proto/repldb-api.ts`). GET: `version`, `dynamic_settings`, `mirrors/list`, `mirrors/names`,
 * `mirrors/cdc/table_total_counts/{mirror}`, `mirrors/cdc/initial_load/{mirror}`, `mirrors/total_rows_synced/{mirror}`,
 * `peers/list`, `peers/slots/{peer}`, `peers/stats/{peer}`, `peers/info/{peer}`, `peers/type/{peer}`. POST:
 * `mirrors/status`, `mirrors/cdc/graph`, `mirrors/cdc/batches`, `mirrors/logs`, `peers/slots/lag_history`. All
 * others are rejected with 403.
 */
export * from '../repldb-api.ts'
