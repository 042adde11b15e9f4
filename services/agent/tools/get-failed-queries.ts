import { z } from 'zod'
import { rowNumber, readRows } from '#shared/tools/read-rows.ts'
import { findHost, defineReadTool, createResult } from '#shared/tools/tool.ts'
import { hoursParameter, limitParameter, nameParameter, hostParameter } from '#shared/tools/tool-parameters.ts'

const Failure = z.object({
  user: z.string(),
  code: rowNumber,
  error: z.string(),
  fingerprint: z.string(),
  failures: rowNumber,
  firstMs: rowNumber,
  lastMs: rowNumber,
  queryId: z.string(),
  exception: z.string(),
  /** The query pattern, without values. */
  statement: z.string(),
  total: rowNumber,
})

export const getFailedQueries = defineReadTool({
  name: 'get_failed_queries',
  title: 'Failed queries',
  description: 'Failed queries by user, error and pattern, most frequent first, each with its last error.',
  feature: 'QUERIES',
  core: true,
  input: z.strictObject({
    ...hostParameter,
    lastHours: hoursParameter(24),
    user: nameParameter('Only queries of this user').optional(),
    limit: limitParameter(20, 200),
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
    return createResult(text, { total: first?.total ?? 0, failures: rows.map(({ total: _, ...row }) => row) })
  },
})
