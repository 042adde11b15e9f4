import { z } from 'zod'
import { findHost, defineReadTool, createToolResult } from '#shared/tools/tool.ts'
import { createNameParameter, hostParameter } from '#shared/tools/tool-parameters.ts'
import { formatCountedNoun } from '../result-text.ts'
import { readTableSchema, TableSchema } from '../table-schema.ts'

export const getTableSchema = defineReadTool({
  name: 'get_table_schema',
  title: 'Schema of a table',
  description: 'Columns of a table with types, defaults, codecs and comments, and its engine and keys.',
  feature: 'TABLES',
  core: true,
  example: { database: 'system', table: 'tables' },
  input: z.strictObject({
    ...hostParameter,
    database: createNameParameter('The database'),
    table: createNameParameter('The table'),
  }),
  output: TableSchema,
  async run({ hostId, ...ref }, context) {
    const host = await findHost(context, hostId)
    const structured = await readTableSchema(context, host, ref)
    const { columns, engine, sortingKey } = structured
    const order = sortingKey === '' ? '' : `, ordered by ${sortingKey}`
    return createToolResult(
      `${ref.database}.${ref.table}: ${formatCountedNoun(columns.length, 'column')}, ${engine}${order}.`,
      structured,
    )
  },
})
