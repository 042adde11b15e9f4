import { z } from 'zod'
import { limitOf, name } from '#shared/tools/tool-parameters.ts'
import { hostAt, ofHost } from '../asking.ts'
import { counted } from '../counted.ts'
import { tool } from '../tool.ts'

export const listTables = tool({
  name: 'list_tables',
  title: 'List tables',
  description: 'Tables, views and dictionaries of a database with row counts and sizes in bytes.',
  feature: 'TABLES',
  input: z.strictObject({
    ...ofHost,
    database: name('The database'),
    search: z.string().max(256).optional().describe('Text that names contain'),
    limit: limitOf(200, 1_000),
  }),
  output: z.object({
    tables: z.array(
      z.object({
        name: z.string(),
        kind: z.string(),
        engine: z.string(),
        comment: z.string(),
        rows: z.number().nullable(),
        bytes: z.number().nullable(),
      }),
    ),
    truncated: z.boolean(),
  }),
  async run({ hostId, limit, ...asked }, asking) {
    const host = await hostAt(asking, hostId)
    const { rows, truncated } = await asking.query.exploreTables({ hostKey: host.key, ...asked }, asking.call)
    const tables = rows
      .slice(0, limit)
      .map(({ name, kind, engine, comment, rows, bytes }) => ({ name, kind, engine, comment, rows, bytes }))
    const isCut = truncated || rows.length > limit
    return {
      text: `${counted(tables.length, 'table')} in ${asked.database} on ${host.name}${isCut ? '; there are more' : ''}.`,
      structured: { tables, truncated: isCut },
    }
  },
})
