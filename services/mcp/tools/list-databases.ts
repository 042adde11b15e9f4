import { z } from 'zod'
import { integerSchema } from '#shared/tools/read-rows.ts'
import { findHost, defineReadTool, createToolResult } from '#shared/tools/tool.ts'
import { createLimitParameter, hostParameter } from '#shared/tools/tool-parameters.ts'
import { formatCountedNoun } from '../result-text.ts'

export const listDatabases = defineReadTool({
  name: 'list_databases',
  title: 'List databases',
  description: 'Databases of a host with engine, comment, number of tables, rows and bytes.',
  feature: 'TABLES',
  core: true,
  input: z.strictObject({ ...hostParameter, limit: createLimitParameter(200, 1_000) }),
  output: z.object({
    databases: z.array(
      z.object({
        name: z.string(),
        engine: z.string(),
        comment: z.string(),
        tables: integerSchema,
        rows: integerSchema,
        bytes: integerSchema,
      }),
    ),
    truncated: z.boolean(),
  }),
  async run({ hostId, limit }, context) {
    const host = await findHost(context, hostId)
    const { rows, truncated } = await context.query.exploreDatabases({ hostKey: host.key }, context.call)
    const databases = rows.slice(0, limit).map((row) => ({
      name: row.name,
      engine: row.engine,
      comment: row.comment,
      tables: row.tables,
      rows: row.rows,
      bytes: row.bytes,
    }))
    const isCut = truncated || rows.length > limit
    return createToolResult(
      `${formatCountedNoun(databases.length, 'database')} on ${host.name}${isCut ? '; there are more' : ''}.`,
      {
        databases,
        truncated: isCut,
      },
    )
  },
})
