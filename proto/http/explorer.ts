import { z } from 'zod'
import { explorerMethods, ExplorerName, TableKeys, TableOverview } from '../explorer.ts'
import { IncompleteReason, UnavailableReason } from '../unavailable.ts'
import { createResponseSchema } from './response.ts'
import { hostId, textParameter, integerParameterLike } from './parameters.ts'

const { exploreDatabases, exploreTables, exploreColumns, exploreDdl, exploreSkipIndexes } = explorerMethods
const { exploreProjections, exploreParts, exploreDependencies, exploreUsage, exploreQueries } = explorerMethods

const name = textParameter.pipe(ExplorerName)
const ofHost = { hostId: hostId.default(0) }
const ofTable = z.strictObject({ ...ofHost, database: name, table: name })

/** Query parameters of `GET /api/v1/explorer/databases`. */
export const DatabasesQuery = z.strictObject(ofHost)
/** Query parameters of `GET /api/v1/explorer/tables`; `search` matches substrings of names. */
export const TablesQuery = z.strictObject({
  ...ofHost,
  database: name,
  search: textParameter.max(256, 'must not be longer than 256 characters').optional(),
})
/** Query parameters of requests about one table. */
export const ExplorerTableQuery = ofTable
/** Query parameters of requests about a table or, without `table`, a whole database. */
export const ExplorerDatabaseQuery = ofTable.partial({ table: true })
/** Query parameters of `GET /api/v1/explorer/parts`; `inactive=1` adds inactive parts. */
export const PartsQuery = ofTable.extend({
  inactive: z.enum(['0', '1'], 'must be 1 or 0').optional(),
  limit: integerParameterLike(exploreParts.input.shape.limit).optional(),
})
/** Query parameters of `GET /api/v1/explorer/usage`. */
export const UsageQuery = ofTable.extend({
  lastHours: integerParameterLike(exploreUsage.input.shape.lastHours).optional(),
})
/** Query parameters of `GET /api/v1/explorer/query-log`. */
export const TableQueriesQuery = UsageQuery.extend({
  limit: integerParameterLike(exploreQueries.input.shape.limit).optional(),
})
/** Query parameters of `GET /api/v1/explorer/preview`. */
export const PreviewQuery = ofTable.extend({
  limit: integerParameterLike(explorerMethods.previewTable.input.shape.limit).optional(),
})

const about = { host: z.string(), unavailable: UnavailableReason.nullable() }

const listAnswer = <L extends z.ZodType>(list: L) =>
  createResponseSchema(
    list,
    z.object({ ...about, truncated: z.boolean(), incomplete: IncompleteReason.nullable().default(null) }),
  )
const detailAnswer = <D extends z.ZodType>(detail: D) => createResponseSchema(detail, z.object(about))

/**
 * Response with databases. In this and the following responses, `data` is empty or null if the host returns no data,
 * with the reason in `metadata.unavailable`.
 */
export const DatabasesResponse = listAnswer(exploreDatabases.output.shape.rows)
/** Response with the tables of a database. */
export const TablesResponse = listAnswer(exploreTables.output.shape.rows)
/** Response with a table and its details. */
export const TableOverviewResponse = detailAnswer(TableOverview.nullable())
/** Response with only the keys of a table. */
export const KeysResponse = detailAnswer(TableKeys.nullable())
/** Response with the columns of a table. */
export const ColumnsResponse = listAnswer(exploreColumns.output.shape.rows)
/** Response with the `CREATE` statement of a table or database. */
export const DdlResponse = detailAnswer(exploreDdl.output.shape.detail)
/** Response with the data skipping indexes of a table. */
export const SkipIndexesResponse = listAnswer(exploreSkipIndexes.output.shape.rows)
/** Response with the projections of a table. */
export const ProjectionsResponse = listAnswer(exploreProjections.output.shape.rows)
/** Response with the parts of a table. */
export const PartsResponse = listAnswer(exploreParts.output.shape.rows)
/** Response with the dependencies of a table or database. */
export const DependenciesResponse = listAnswer(exploreDependencies.output.shape.rows)
/** Response with the usage of a table by user. */
export const UsageResponse = detailAnswer(exploreUsage.output.shape.detail)
/** Response with the latest queries of a table. */
export const TableQueriesResponse = listAnswer(exploreQueries.output.shape.rows)
