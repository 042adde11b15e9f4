import { z } from 'zod'
import { explorerMethods, ExplorerName, TableKeys, TableOverview } from '../explorer.ts'
import { Unavailable } from '../unavailable.ts'
import { answer } from './answer.ts'
import { hostId, text, wholeAs } from './parameters.ts'

const { exploreDatabases, exploreTables, exploreColumns, exploreDdl, exploreSkipIndexes } = explorerMethods
const { exploreProjections, exploreParts, exploreDependencies, exploreUsage, exploreQueries } = explorerMethods

const name = text.pipe(ExplorerName)
const ofHost = { hostId: hostId.default(0) }
const ofTable = z.strictObject({ ...ofHost, database: name, table: name })

/** `GET /api/v1/explorer/databases` */
export const DatabasesQuery = z.strictObject(ofHost)
/** `GET /api/v1/explorer/tables`; `search` is text that names contain. */
export const TablesQuery = z.strictObject({
  ...ofHost,
  database: name,
  search: text.max(256, 'must not be longer than 256 characters').optional(),
})
/** Of what is asked about one table. */
export const OfTableQuery = ofTable
/** Of what is asked about a table or, without one, its whole database. */
export const OfDatabaseQuery = ofTable.partial({ table: true })
/** `GET /api/v1/explorer/parts`; `inactive=1` adds parts that are only still there. */
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

const listAnswer = <L extends z.ZodType>(list: L) => answer(list, z.object({ ...about, truncated: z.boolean() }))
const detailAnswer = <D extends z.ZodType>(detail: D) => answer(detail, z.object(about))

/** The answers; `data` is empty or null when the host cannot tell, which `metadata.unavailable` explains. */
export const DatabasesAnswer = listAnswer(exploreDatabases.output.shape.rows)
/** Tables of a database. */
export const TablesAnswer = listAnswer(exploreTables.output.shape.rows)
/** One table as a whole. */
export const TableOverviewAnswer = detailAnswer(TableOverview.nullable())
/** The keys alone. */
export const KeysAnswer = detailAnswer(TableKeys.nullable())
/** Columns of a table. */
export const ColumnsAnswer = listAnswer(exploreColumns.output.shape.rows)
/** The CREATE statement. */
export const DdlAnswer = detailAnswer(exploreDdl.output.shape.detail)
/** Data skipping indexes. */
export const SkipIndexesAnswer = listAnswer(exploreSkipIndexes.output.shape.rows)
/** Projections. */
export const ProjectionsAnswer = listAnswer(exploreProjections.output.shape.rows)
/** Parts. */
export const PartsAnswer = listAnswer(exploreParts.output.shape.rows)
/** Dependencies. */
export const DependenciesAnswer = listAnswer(exploreDependencies.output.shape.rows)
/** Who used a table. */
export const UsageAnswer = detailAnswer(exploreUsage.output.shape.detail)
/** The latest queries of a table. */
export const TableQueriesAnswer = listAnswer(exploreQueries.output.shape.rows)
