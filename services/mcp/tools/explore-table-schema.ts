import { z } from 'zod'
import type { Host } from '#proto/host.ts'
import { quoteName } from '#shared/sql/statement-text.ts'
import { integerCellSchema, integerSchema, readRows } from '#shared/tools/read-rows.ts'
import { findHost, defineReadTool, createToolResult, type ToolContext } from '#shared/tools/tool.ts'
import { createNameParameter, hostParameter } from '#shared/tools/tool-parameters.ts'
import { formatCountedNoun, explainMissingQueryLog } from '../result-text.ts'
import { readTableSchema } from '../table-schema.ts'

/** Maximum number of names in a result. */
const maxNames = 1_000

const Relationship = z.object({
  /** `join`, or the kind of object that the data flows through. */
  kind: z.string(),
  from: z.string(),
  to: z.string(),
  /** Number of queries of the last week that join both tables; null for relationships from definitions. */
  queries: integerSchema.nullable(),
})

const SchemaExploration = z.object({
  level: z.enum(['databases', 'tables', 'schema']),
  names: z.array(z.string()),
  /** The table in the format of `get_table_schema`, which clients already know; null for lists of names. */
  schema: z.looseObject({}).nullable(),
  relationships: z.array(Relationship),
  truncated: z.boolean(),
})
type SchemaExploration = z.infer<typeof SchemaExploration>

export const exploreTableSchema = defineReadTool({
  name: 'explore_table_schema',
  title: 'Explore schemas step by step',
  description:
    'Lists databases, tables of a database, or the schema of a table with its relationships: joins of the last week, views, dictionaries, distributed tables.',
  feature: 'TABLES',
  core: true,
  example: { database: 'system', table: 'tables' },
  input: z
    .strictObject({
      ...hostParameter,
      database: createNameParameter('Lists its tables').optional(),
      table: createNameParameter('Returns its schema; requires database').optional(),
    })
    .refine(({ database, table }) => table === undefined || database !== undefined, 'table requires database'),
  output: SchemaExploration,
  async run({ hostId, database, table }, context) {
    const host = await findHost(context, hostId)
    if (database === undefined) return databasesOf(context, host)
    return table === undefined ? tablesOf(context, host, database) : tableOf(context, host, { database, table })
  },
})

const toNamesResult = (level: SchemaExploration['level'], names: string[], truncated: boolean): SchemaExploration => ({
  level,
  names: names.slice(0, maxNames),
  schema: null,
  relationships: [],
  truncated: truncated || names.length > maxNames,
})

const databasesOf = async ({ query, call }: ToolContext, { key, name: host }: Host) => {
  const { rows, truncated } = await query.exploreDatabases({ hostKey: key }, call)
  const structured = toNamesResult(
    'databases',
    rows.map((row) => row.name),
    truncated,
  )
  return createToolResult(
    `${formatCountedNoun(rows.length, 'database')} on ${host}; set database to list its tables.`,
    structured,
  )
}

const tablesOf = async ({ query, call }: ToolContext, { key, name: host }: Host, database: string) => {
  const { rows, truncated } = await query.exploreTables({ hostKey: key, database }, call)
  const structured = toNamesResult(
    'tables',
    rows.map((row) => row.name),
    truncated,
  )
  return createToolResult(
    `${formatCountedNoun(rows.length, 'table')} in ${database} on ${host}; set table to see its schema.`,
    structured,
  )
}

const tableOf = async (context: ToolContext, host: Host, ref: { database: string; table: string }) => {
  const input = { hostKey: host.key, ...ref }
  const [schema, defined, joins] = await Promise.all([
    readTableSchema(context, host, ref),
    context.query.exploreDependencies(input, context.call),
    joinsOf(context, host, ref),
  ])
  const flows = defined.rows.map(({ kind, from, to }) => ({
    kind,
    from: `${from.database}.${from.table}`,
    to: `${to.database}.${to.table}`,
    queries: null,
  }))
  const whole = `${ref.database}.${ref.table}`
  const joined = joins.tables.map(({ table, queries }) => ({ kind: 'join', from: whole, to: table, queries }))
  const structured: SchemaExploration = {
    level: 'schema',
    names: [],
    schema,
    relationships: [...flows, ...joined],
    truncated: schema.truncated || defined.truncated,
  }
  const unknown = joins.unavailable === null ? '' : ` Joins are unavailable: ${joins.unavailable}.`
  const text = `${whole}: ${formatCountedNoun(schema.columns.length, 'column')}, ${formatCountedNoun(structured.relationships.length, 'relationship')}.${unknown}`
  return createToolResult(text, structured)
}

const maxJoined = 20

const JoinedTable = z.object({ table: z.string(), queries: integerCellSchema })

/** The tables that queries of the last week joined with a given table, most frequent first. */
interface Joins {
  tables: z.infer<typeof JoinedTable>[]
  /** Why the query log is unavailable; null if it is available. */
  unavailable: string | null
}

const joinsOf = async (
  context: ToolContext,
  host: Host,
  { database, table }: { database: string; table: string },
): Promise<Joins> => {
  const parameters = { whole: `${asLogged(database)}.${asLogged(table)}` }
  const statement = { tool: 'explore_table_schema', statement: 'joins', parameters, maxRows: maxJoined }
  try {
    return { tables: await readRows(context, host, statement, JoinedTable), unavailable: null }
  } catch (error) {
    // Relationships from definitions are available without the query log.
    return { tables: [], unavailable: explainMissingQueryLog(error, host) }
  }
}

/** Returns a name as in the query log, which quotes names only if necessary. */
const asLogged = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? name : quoteName(name))
