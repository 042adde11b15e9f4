import { z } from 'zod'
import { queryPatternOrders } from '#proto/fingerprints.ts'
import { shortenText } from '#shared/text/strings.ts'
import { findHost, defineReadTool, createToolResult } from '#shared/tools/tool.ts'
import {
  createHoursParameter,
  createLimitParameter,
  createNameParameter,
  hostParameter,
} from '#shared/tools/tool-parameters.ts'

const maxStatementLength = 1_000

export const listSlowQueryPatterns = defineReadTool({
  name: 'list_slow_query_patterns',
  title: 'Query patterns',
  description:
    'Query patterns (queries that differ only in values) with calls, share of time, percentiles, errors, rows, bytes, memory, users.',
  feature: 'QUERIES',
  answersFromHistory: true,
  core: true,
  input: z.strictObject({
    ...hostParameter,
    lastHours: createHoursParameter(24),
    order: z.enum(queryPatternOrders).default('total_time').describe('Sort key, largest first'),
    user: createNameParameter('Only queries of this user').optional(),
    search: createNameParameter('Text that the pattern contains').optional(),
    limit: createLimitParameter(20, 200),
  }),
  async run({ hostId, ...options }, context) {
    const host = await findHost(context, hostId)
    const { fingerprints, total, unavailable } = await context.query.fingerprints(
      { hostKey: host.key, ...options },
      context.call,
    )
    if (unavailable) return createToolResult(`No data: ${unavailable.message}`, { patterns: [], total: null })
    const [first] = fingerprints
    const patterns = fingerprints.map((each) => ({ ...each, query: shortenText(each.query, maxStatementLength) }))
    const text = first
      ? `${total ?? fingerprints.length} patterns in the last ${options.lastHours} h on ${host.name}; the first ran ${first.calls} times.`
      : `No pattern ran in the last ${options.lastHours} h on ${host.name}.`
    return createToolResult(text, { patterns, total })
  },
})
