import { z } from 'zod'
import { integerSchema } from '#shared/tools/read-rows.ts'
import { findHost, defineReadTool, createToolResult } from '#shared/tools/tool.ts'
import { createLimitParameter, createNameParameter, hostParameter } from '#shared/tools/tool-parameters.ts'
import { formatCountedNoun } from '../result-text.ts'

export const listTables = defineReadTool({
  name: 'list_tables',
  title: 'List tables',
  description: 'Tables, views and dictionaries of a database with row counts and sizes in bytes.',
  feature: 'TABLES',
  core: true,
  example: { database: 'system' },
  input: z.strictObject({
    ...hostParameter,
    database: createNameParameter('The database'),
    search: z.string().max(256).optional().describe('Part of the name'),
    limit: createLimitParameter(200, 1_000),
  }),
  output: z.object({
    tables: z.array(
      z.object({
        name: z.string(),
        kind: z.string(),
        engine: z.string(),
        comment: z.string(),
        rows: integerSchema.nullable(),
        bytes: integerSchema.nullable(),
      }),
    ),
    truncated: z.boolean(),
  }),
  async run({ hostId, limit, ...filter }, context) {
    const host = await findHost(context, hostId)
    const { rows, truncated } = await context.query.exploreTables({ hostKey: host.key, ...filter }, context.call)
    const tables = rows
      .slice(0, limit)
      .map(({ name, kind, engine, comment, rows, bytes }) => ({ name, kind, engine, comment, rows, bytes }))
    const isCut = truncated || rows.length > limit
    return createToolResult(
      `${formatCountedNoun(tables.length, 'table')} in ${filter.database} on ${host.name}${isCut ? '; there are more' : ''}.`,
      { tables, truncated: isCut },
    )
  },
})
