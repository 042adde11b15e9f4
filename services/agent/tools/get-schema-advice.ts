import { z } from 'zod'
import { findHost, defineReadTool, createToolResult } from '#shared/tools/tool.ts'
import { createNameParameter, hostParameter } from '#shared/tools/tool-parameters.ts'

export const getSchemaAdvice = defineReadTool({
  name: 'get_schema_advice',
  title: 'Advice for a table',
  description:
    'Advice on the columns, codecs, sorting key and TTL of one table: low cardinality, nullable, smaller types, with DDL, savings, risk and proof.',
  feature: 'TABLES',
  input: z.strictObject({
    ...hostParameter,
    database: createNameParameter('Database of the table'),
    table: createNameParameter('The table'),
  }),
  async run({ hostId, database, table }, context) {
    const host = await findHost(context, hostId)
    const { recommendations, notes } = await context.report.adviseTable(
      { hostKey: host.key, database, table },
      context.call,
    )
    const [first] = recommendations
    const text = first
      ? `${recommendations.length} recommendations for ${database}.${table} on ${host.name}; the first is ${first.proof}: ${first.title}.`
      : `No recommendations for ${database}.${table} on ${host.name}.`
    return createToolResult(text, { recommendations, notes })
  },
})
