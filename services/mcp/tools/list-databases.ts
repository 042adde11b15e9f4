import { z } from 'zod'
import { limitOf } from '#shared/tools/tool-parameters.ts'
import { hostAt, ofHost } from '../asking.ts'
import { counted } from '../counted.ts'
import { tool } from '../tool.ts'

export const listDatabases = tool({
  name: 'list_databases',
  title: 'List databases',
  description: 'Databases of a host with engine, comment and how much is in them.',
  feature: 'TABLES',
  input: z.strictObject({ ...ofHost, limit: limitOf(200, 1_000) }),
  output: z.object({
    databases: z.array(
      z.object({
        name: z.string(),
        engine: z.string(),
        comment: z.string(),
        tables: z.number(),
        rows: z.number(),
        bytes: z.number(),
      }),
    ),
    truncated: z.boolean(),
  }),
  async run({ hostId, limit }, asking) {
    const host = await hostAt(asking, hostId)
    const { rows, truncated } = await asking.query.exploreDatabases({ hostKey: host.key }, asking.call)
    const databases = rows.slice(0, limit).map((row) => ({
      name: row.name,
      engine: row.engine,
      comment: row.comment,
      tables: row.tables,
      rows: row.rows,
      bytes: row.bytes,
    }))
    const isCut = truncated || rows.length > limit
    return {
      text: `${counted(databases.length, 'database')} on ${host.name}${isCut ? '; there are more' : ''}.`,
      structured: { databases, truncated: isCut },
    }
  },
})
