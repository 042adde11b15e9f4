import { z } from 'zod'
import type { Host } from '#proto/host.ts'
import { name } from '#shared/tools/tool-parameters.ts'
import { type Asking, hostAt, ofHost } from '../asking.ts'
import { counted } from '../counted.ts'
import { joinsOf } from '../joins.ts'
import { readTableSchema } from '../table-schema.ts'
import { tool } from '../tool.ts'

/** Names that one answer tells. */
const mostNames = 1_000

const Relationship = z.object({
  /** `join`, or what data flows through. */
  kind: z.string(),
  from: z.string(),
  to: z.string(),
  /** Statements of the last week that join the two; null for what is defined. */
  queries: z.number().nullable(),
})

const Explored = z.object({
  level: z.enum(['databases', 'tables', 'schema']),
  names: z.array(z.string()),
  /** As `get_table_schema` tells it, whose schema need not be read twice. */
  schema: z.looseObject({}).nullable(),
  relationships: z.array(Relationship),
  truncated: z.boolean(),
})
type Explored = z.infer<typeof Explored>

export const exploreTableSchema = tool({
  name: 'explore_table_schema',
  title: 'Explore schemas step by step',
  description:
    'Databases; with a database its tables; with a table its schema and relationships: joins of the last week, views, dictionaries, distributed tables.',
  feature: 'TABLES',
  input: z
    .strictObject({
      ...ofHost,
      database: name('Leads to its tables').optional(),
      table: name('Leads to its schema; needs database').optional(),
    })
    .refine(({ database, table }) => table === undefined || database !== undefined, 'table needs a database beside it'),
  output: Explored,
  async run({ hostId, database, table }, asking) {
    const host = await hostAt(asking, hostId)
    if (database === undefined) return databasesOf(asking, host)
    return table === undefined ? tablesOf(asking, host, database) : tableOf(asking, host, { database, table })
  },
})

const named = (level: Explored['level'], names: string[], truncated: boolean): Explored => ({
  level,
  names: names.slice(0, mostNames),
  schema: null,
  relationships: [],
  truncated: truncated || names.length > mostNames,
})

const databasesOf = async ({ query, call }: Asking, { key, name: host }: Host) => {
  const { rows, truncated } = await query.exploreDatabases({ hostKey: key }, call)
  const structured = named(
    'databases',
    rows.map((row) => row.name),
    truncated,
  )
  return { text: `${counted(rows.length, 'database')} on ${host}; name one to see its tables.`, structured }
}

const tablesOf = async ({ query, call }: Asking, { key, name: host }: Host, database: string) => {
  const { rows, truncated } = await query.exploreTables({ hostKey: key, database }, call)
  const structured = named(
    'tables',
    rows.map((row) => row.name),
    truncated,
  )
  return { text: `${counted(rows.length, 'table')} in ${database} on ${host}; name one to see its schema.`, structured }
}

const tableOf = async (asking: Asking, host: Host, asked: { database: string; table: string }) => {
  const input = { hostKey: host.key, ...asked }
  const [schema, defined, joins] = await Promise.all([
    readTableSchema(asking, host, asked),
    asking.query.exploreDependencies(input, asking.call),
    joinsOf(asking, host, asked),
  ])
  const flows = defined.rows.map(({ kind, from, to }) => ({
    kind,
    from: `${from.database}.${from.table}`,
    to: `${to.database}.${to.table}`,
    queries: null,
  }))
  const whole = `${asked.database}.${asked.table}`
  const joined = joins.tables.map(({ table, queries }) => ({ kind: 'join', from: whole, to: table, queries }))
  const structured: Explored = {
    level: 'schema',
    names: [],
    schema,
    relationships: [...flows, ...joined],
    truncated: schema.truncated || defined.truncated,
  }
  const unknown = joins.unavailable === null ? '' : ` Joins are not known: ${joins.unavailable}`
  const text = `${whole}: ${counted(schema.columns.length, 'column')}, ${counted(structured.relationships.length, 'relationship')}.${unknown}`
  return { text, structured }
}
