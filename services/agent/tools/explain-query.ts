import { z } from 'zod'
import { ExplainMode, type ExplainSettings } from '#proto/explain.ts'
import { findHost, defineReadTool, createToolResult } from '#shared/tools/tool.ts'
import { createNameParameter, hostParameter, sqlParameter } from '#shared/tools/tool-parameters.ts'

/** The modes that do not run the query. `estimate` has its own tool, and `query` runs `EXPLAIN ANALYZE`. */
const explainModes = ExplainMode.exclude(['analyze', 'estimate'])

export const explainQuery = defineReadTool({
  name: 'explain_query',
  title: 'Explain a query',
  description:
    'Runs EXPLAIN for a SELECT, without running the query: the plan with its indexes, the pipeline, or the rewritten query.',
  feature: 'QUERIES',
  example: { sql: 'SELECT 1' },
  input: z.strictObject({
    ...hostParameter,
    sql: sqlParameter,
    mode: explainModes.default('plan').describe('Kind of EXPLAIN'),
    database: createNameParameter('Default database of the query').optional(),
  }),
  async run({ hostId, sql: query, mode, ...options }, context) {
    const host = await findHost(context, hostId)
    const planSettings: ExplainSettings = mode === 'plan' ? { indexes: true, json: false } : {}
    const { text } = await context.query.explain(
      { hostKey: host.key, query, mode, planSettings, ...options },
      context.call,
    )
    return createToolResult(`EXPLAIN output of ${host.name}.`, { mode, lines: (text ?? '').split('\n') })
  },
})
