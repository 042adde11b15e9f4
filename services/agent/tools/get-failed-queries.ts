import { z } from 'zod'
import { numericCellSchema, readRows } from '#shared/tools/read-rows.ts'
import { findHost, defineReadTool, createToolResult } from '#shared/tools/tool.ts'
import {
  createHoursParameter,
  createLimitParameter,
  createNameParameter,
  hostParameter,
} from '#shared/tools/tool-parameters.ts'

const Failure = z.object({
  user: z.string(),
  code: numericCellSchema,
  error: z.string(),
  fingerprint: z.string(),
  failures: numericCellSchema,
  firstMs: numericCellSchema,
  lastMs: numericCellSchema,
  queryId: z.string(),
  exception: z.string(),
  /** The query pattern, without values. */
  statement: z.string(),
  total: numericCellSchema,
})

export const getFailedQueries = defineReadTool({
  name: 'get_failed_queries',
  title: 'Failed queries',
  description: 'Failed queries by user, error and pattern, most frequent first, each with its last error.',
  feature: 'QUERIES',
  answersFromHistory: true,
  core: true,
  input: z.strictObject({
    ...hostParameter,
    lastHours: createHoursParameter(24),
    user: createNameParameter('Only queries of this user').optional(),
    limit: createLimitParameter(20, 200),
  }),
  async run({ hostId, lastHours: hours, user = '', limit }, context) {
    const host = await findHost(context, hostId)
    const parameters = { lastHours: hours, user }
    const statement = { tool: 'get_failed_queries', statement: 'failures', parameters, maxRows: limit }
    const rows = await readRows(context, host, statement, Failure)
    const [first] = rows
    const window = `the last ${hours} h on ${host.name}`
    const text = first
      ? `${first.total} failures in ${window}; the most frequent is ${first.error} for user ${first.user}, ${first.failures} times.`
      : `No failed queries in ${window}.`
    return createToolResult(text, { total: first?.total ?? 0, failures: rows.map(({ total: _, ...row }) => row) })
  },
})
