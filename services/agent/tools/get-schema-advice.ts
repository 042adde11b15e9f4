import { z } from 'zod'
import { name } from '#shared/tools/tool-parameters.ts'
import { hostAt, ofHost, readTool, told } from '../read-tool.ts'

export const getSchemaAdvice = readTool({
  name: 'get_schema_advice',
  title: 'Advice for a table',
  description:
    'Advice on the columns, codecs, sorting key and TTL of one table: low cardinality, nullable, smaller types, with DDL, savings, risk and proof.',
  feature: 'TABLES',
  input: z.strictObject({ ...ofHost, database: name('Database of the table'), table: name('The table') }),
  async run({ hostId, database, table }, asking) {
    const host = await hostAt(asking, hostId)
    const { recommendations, notes } = await asking.report.adviseTable(
      { hostKey: host.key, database, table },
      asking.call,
    )
    const [first] = recommendations
    const text = first
      ? `${recommendations.length} for ${database}.${table} on ${host.name}, the first ${first.proof}: ${first.title}.`
      : `Nothing to advise on ${database}.${table} on ${host.name}.`
    return told(text, { recommendations, notes })
  },
})
