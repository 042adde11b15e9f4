import { z } from 'zod'
import { name } from '#shared/tools/tool-parameters.ts'
import { hostAt, ofHost } from '../asking.ts'
import { counted } from '../counted.ts'
import { readTableSchema, TableSchema } from '../table-schema.ts'
import { tool } from '../tool.ts'

export const getTableSchema = tool({
  name: 'get_table_schema',
  title: 'Schema of a table',
  description: 'Columns of a table with types, defaults, codecs and comments, and its engine and keys.',
  feature: 'TABLES',
  input: z.strictObject({ ...ofHost, database: name('The database'), table: name('The table') }),
  output: TableSchema,
  async run({ hostId, ...asked }, asking) {
    const host = await hostAt(asking, hostId)
    const structured = await readTableSchema(asking, host, asked)
    const { columns, engine, sortingKey } = structured
    const order = sortingKey === '' ? '' : `, ordered by ${sortingKey}`
    return {
      text: `${asked.database}.${asked.table}: ${counted(columns.length, 'column')}, ${engine}${order}.`,
      structured,
    }
  },
})
