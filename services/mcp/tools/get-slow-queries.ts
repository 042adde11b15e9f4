import { z } from 'zod'
import type { Host } from '#proto/host.ts'
import { integerCellSchema, readRows } from '#shared/tools/read-rows.ts'
import { findHost, defineReadTool, createToolResult, type ToolContext } from '#shared/tools/tool.ts'
import { createHoursParameter, createLimitParameter, hostParameter } from '#shared/tools/tool-parameters.ts'
import { explainMissingQueryLog } from '../result-text.ts'

const SlowQuery = z.object({
  queryId: z.string(),
  user: z.string(),
  kind: z.string(),
  /** `finished`, `failed`, `cancelled` or `running`. Not an enum, because the list of tools must stay small. */
  status: z.string(),
  /** Name of the ClickHouse error; empty unless the query failed or was cancelled. */
  error: z.string(),
  /** Null while the query is running. */
  endedMs: integerCellSchema.nullable(),
  durationMs: integerCellSchema,
  rowsRead: integerCellSchema,
  bytesRead: integerCellSchema,
  memoryBytes: integerCellSchema,
  fingerprint: z.string(),
  statement: z.string(),
})

export const getSlowQueries = defineReadTool({
  name: 'get_slow_queries',
  title: 'Slow queries',
  description: 'Slowest queries, also failed and running ones.',
  feature: 'QUERIES',
  answersFromHistory: true,
  input: z.strictObject({
    ...hostParameter,
    lastHours: createHoursParameter(24),
    minDurationMs: z.int().min(0).max(86_400_000).default(0).describe('Minimum duration'),
    limit: createLimitParameter(20, 200),
  }),
  output: z.object({
    queries: z.array(SlowQuery),
    /** Why the query log is unavailable; null if it is available. */
    unavailable: z.string().nullable(),
  }),
  async run({ hostId, limit, ...parameters }, context) {
    const host = await findHost(context, hostId)
    const { queries, unavailable } = await readSlowestQueries(context, host, parameters, limit)
    if (unavailable !== null)
      return createToolResult(`Slow queries are unavailable: ${unavailable}.`, { queries, unavailable })
    const [first] = queries
    const window = `the last ${parameters.lastHours} h on ${host.name}`
    const text = first ? `${queries.length} of ${window}, the slowest ${first.durationMs} ms.` : `None in ${window}.`
    return createToolResult(text, { queries, unavailable })
  },
})

const readSlowestQueries = async (
  context: ToolContext,
  host: Host,
  filter: Record<string, number>,
  maxRows: number,
) => {
  const parameters = { ...filter, fullStatements: Number(context.fullStatements) }
  const statement = { tool: 'get_slow_queries', statement: 'slow', parameters, maxRows }
  try {
    return { queries: await readRows(context, host, statement, SlowQuery), unavailable: null }
  } catch (error) {
    return { queries: [], unavailable: explainMissingQueryLog(error, host) }
  }
}
