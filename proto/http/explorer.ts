import { z } from 'zod'
import { explorerMethods, ExplorerName, TableKeys, TableOverview } from '../explorer.ts'
import { IncompleteReason, UnavailableReason } from '../unavailable-reason.ts'
import { createResponseSchema } from './response.ts'
import { hostId, textParameter, deriveIntegerParameter } from './parameters.ts'

const { exploreDatabases, exploreTables, exploreColumns, exploreDdl, exploreSkipIndexes } = explorerMethods
const { exploreProjections, exploreParts, exploreDependencies, exploreUsage, exploreQueries } = explorerMethods

const name = textParameter.pipe(ExplorerName)
const hostParameters = { hostId: hostId.default(0) }
const tableParameters = z.strictObject({ ...hostParameters, database: name, table: name })

/** Query parameters of `GET /api/v1/explorer/databases`. */
export const DatabasesQuery = z.strictObject(hostParameters)
/** Query parameters of `GET /api/v1/explorer/tables`; `search` matches substrings of names. */
export const TablesQuery = z.strictObject({
  ...hostParameters,
  database: name,
  search: textParameter.max(256, 'must not be longer than 256 characters').optional(),
})
/** Query parameters of requests about one table. */
export const ExplorerTableQuery = tableParameters
/** Query parameters of requests about a table or, without `table`, a whole database. */
export const ExplorerDatabaseQuery = tableParameters.partial({ table: true })
/** Query parameters of `GET /api/v1/explorer/parts`; `inactive=1` adds inactive parts. */
export const PartsQuery = tableParameters.extend({
  inactive: z.enum(['0', '1'], 'must be 1 or 0').optional(),
  limit: deriveIntegerParameter(exploreParts.input.shape.limit).optional(),
})
/** Query parameters of `GET /api/v1/explorer/usage`. */
export const UsageQuery = tableParameters.extend({
  lastHours: deriveIntegerParameter(exploreUsage.input.shape.lastHours).optional(),
})
/** Query parameters of `GET /api/v1/explorer/query-log`. */
export const TableQueriesQuery = UsageQuery.extend({
  limit: deriveIntegerParameter(exploreQueries.input.shape.limit).optional(),
})
/** Query parameters of `GET /api/v1/explorer/preview`. */
export const PreviewQuery = tableParameters.extend({
  limit: deriveIntegerParameter(explorerMethods.previewTable.input.shape.limit).optional(),
})

const commonMetadata = { host: z.string(), unavailable: UnavailableReason.nullable() }

const createListResponseSchema = <L extends z.ZodType>(list: L) =>
  createResponseSchema(
    list,
    z.object({ ...commonMetadata, truncated: z.boolean(), incomplete: IncompleteReason.nullable().default(null) }),
  )
const createDetailResponseSchema = <D extends z.ZodType>(detail: D) =>
  createResponseSchema(detail, z.object(commonMetadata))

/**
 * Response with databases. In this and the following responses, `data` is empty or null if the host returns no data,
 * with the reason in `metadata.unavailable`.
 */
export const DatabasesResponse = createListResponseSchema(exploreDatabases.output.shape.rows)
/** Response with the tables of a database. */
export const TablesResponse = createListResponseSchema(exploreTables.output.shape.rows)
/** Response with a table and its details. */
export const TableOverviewResponse = createDetailResponseSchema(TableOverview.nullable())
/** Response with only the keys of a table. */
export const KeysResponse = createDetailResponseSchema(TableKeys.nullable())
/** Response with the columns of a table. */
export const ColumnsResponse = createListResponseSchema(exploreColumns.output.shape.rows)
/** Response with the `CREATE` statement of a table or database. */
export const DdlResponse = createDetailResponseSchema(exploreDdl.output.shape.detail)
/** Response with the data skipping indexes of a table. */
export const SkipIndexesResponse = createListResponseSchema(exploreSkipIndexes.output.shape.rows)
/** Response with the projections of a table. */
export const ProjectionsResponse = createListResponseSchema(exploreProjections.output.shape.rows)
/** Response with the parts of a table. */
export const PartsResponse = createListResponseSchema(exploreParts.output.shape.rows)
/** Response with the dependencies of a table or database. */
export const DependenciesResponse = createListResponseSchema(exploreDependencies.output.shape.rows)
/** Response with the usage of a table by user. */
export const UsageResponse = createDetailResponseSchema(exploreUsage.output.shape.detail)
/** Response with the latest queries of a table. */
export const TableQueriesResponse = createListResponseSchema(exploreQueries.output.shape.rows)
