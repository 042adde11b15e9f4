import { z } from 'zod'
import { integerCellSchema, numericCellSchema, readRows } from '#shared/tools/read-rows.ts'
import { findHost, defineReadTool, createToolResult } from '#shared/tools/tool.ts'
import { createLimitParameter, hostParameter } from '#shared/tools/tool-parameters.ts'

const RunningQuery = z.object({
  queryId: z.string(),
  user: z.string(),
  kind: z.string(),
  elapsedSeconds: numericCellSchema,
  rowsRead: integerCellSchema,
  bytesRead: integerCellSchema,
  memoryBytes: integerCellSchema,
  statement: z.string(),
})

export const getRunningQueries = defineReadTool({
  name: 'get_running_queries',
  title: 'Running queries',
  description: 'Queries that are running on a host, longest first.',
  feature: 'QUERIES',
  answersFromHistory: true,
  input: z.strictObject({ ...hostParameter, limit: createLimitParameter(50, 500) }),
  output: z.object({ queries: z.array(RunningQuery), truncated: z.boolean() }),
  async run({ hostId, limit }, context) {
    const host = await findHost(context, hostId)
    // One additional row shows whether the list is truncated.
    const running = await readRows(
      context,
      host,
      {
        tool: 'get_running_queries',
        statement: 'running',
        parameters: { fullStatements: Number(context.fullStatements) },
        maxRows: limit + 1,
      },
      RunningQuery,
    )
    const queries = running.slice(0, limit)
    const truncated = running.length > limit
    const [longest] = queries
    const text = longest
      ? `${truncated ? 'More than ' : ''}${queries.length} running on ${host.name}, the longest for ${longest.elapsedSeconds.toFixed(1)} s.`
      : `No query is running on ${host.name}.`
    return createToolResult(text, { queries, truncated })
  },
})
