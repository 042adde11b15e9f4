import { z } from 'zod'
import { explorerMethods, ExplorerName, TableKeys, TableOverview } from '../explorer.ts'
import { Incomplete, Unavailable } from '../unavailable.ts'
import { answer } from './answer.ts'
import { hostId, text, wholeAs } from './parameters.ts'

const { exploreDatabases, exploreTables, exploreColumns, exploreDdl, exploreSkipIndexes } = explorerMethods
const { exploreProjections, exploreParts, exploreDependencies, exploreUsage, exploreQueries } = explorerMethods

const name = text.pipe(ExplorerName)
const ofHost = { hostId: hostId.default(0) }
const ofTable = z.strictObject({ ...ofHost, database: name, table: name })

/** `GET /api/v1/explorer/databases` */
export const DatabasesQuery = z.strictObject(ofHost)
/** `GET /api/v1/explorer/tables`; `search` matches substrings of names. */
export const TablesQuery = z.strictObject({
  ...ofHost,
  database: name,
  search: text.max(256, 'must not be longer than 256 characters').optional(),
})
/** Parameters of requests about one table. */
export const OfTableQuery = ofTable
/** Parameters of requests about a table or, without one, its whole database. */
export const OfDatabaseQuery = ofTable.partial({ table: true })
/** `GET /api/v1/explorer/parts`; `inactive=1` adds inactive parts. */
export const PartsQuery = ofTable.extend({
  inactive: z.enum(['0', '1'], 'must be 1 or 0').optional(),
  limit: wholeAs(exploreParts.input.shape.limit).optional(),
})
/** `GET /api/v1/explorer/usage` */
export const UsageQuery = ofTable.extend({ lastHours: wholeAs(exploreUsage.input.shape.lastHours).optional() })
/** `GET /api/v1/explorer/query-log` */
export const TableQueriesQuery = UsageQuery.extend({ limit: wholeAs(exploreQueries.input.shape.limit).optional() })
/** `GET /api/v1/explorer/preview` */
export const PreviewQuery = ofTable.extend({
  limit: wholeAs(explorerMethods.previewTable.input.shape.limit).optional(),
})

const about = { host: z.string(), unavailable: Unavailable.nullable() }

const listAnswer = <L extends z.ZodType>(list: L) =>
  answer(list, z.object({ ...about, truncated: z.boolean(), incomplete: Incomplete.nullable().default(null) }))
const detailAnswer = <D extends z.ZodType>(detail: D) => answer(detail, z.object(about))

/** The responses; `data` is empty or null when the host returns no data, with the reason in `metadata.unavailable`. */
export const DatabasesResponse = listAnswer(exploreDatabases.output.shape.rows)
/** Tables of a database. */
export const TablesResponse = listAnswer(exploreTables.output.shape.rows)
/** A table with its details. */
export const TableOverviewResponse = detailAnswer(TableOverview.nullable())
/** Only the keys. */
export const KeysResponse = detailAnswer(TableKeys.nullable())
/** Columns of a table. */
export const ColumnsResponse = listAnswer(exploreColumns.output.shape.rows)
/** The CREATE statement. */
export const DdlResponse = detailAnswer(exploreDdl.output.shape.detail)
/** Data skipping indexes. */
export const SkipIndexesResponse = listAnswer(exploreSkipIndexes.output.shape.rows)
/** Projections. */
export const ProjectionsResponse = listAnswer(exploreProjections.output.shape.rows)
/** Parts. */
export const PartsResponse = listAnswer(exploreParts.output.shape.rows)
/** Dependencies. */
export const DependenciesResponse = listAnswer(exploreDependencies.output.shape.rows)
/** The usage of a table. */
export const UsageResponse = detailAnswer(exploreUsage.output.shape.detail)
/** The latest queries of a table. */
export const TableQueriesResponse = listAnswer(exploreQueries.output.shape.rows)
