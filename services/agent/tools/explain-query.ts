import { z } from 'zod'
import { ExplainMode, type ExplainSettings } from '#proto/explain.ts'
import { findHost, readTool, result } from '#shared/tools/tool.ts'
import { name, hostParameter, sql } from '#shared/tools/tool-parameters.ts'

/** The modes except `analyze`, which executes the statement; the tool `query` does that. */
const modes = ExplainMode.exclude(['analyze', 'estimate'])

export const explainQuery = readTool({
  name: 'explain_query',
  title: 'Explain a query',
  description:
    'What the host would do with a SELECT, without doing it: the plan with the indexes it uses, the pipeline, the syntax as rewritten.',
  feature: 'QUERIES',
  example: { sql: 'SELECT 1' },
  input: z.strictObject({
    ...hostParameter,
    sql,
    mode: modes.default('plan').describe('What to explain'),
    database: name('Where names without a database are looked up').optional(),
  }),
  async run({ hostId, sql: query, mode, ...options }, context) {
    const host = await findHost(context, hostId)
    const planSettings: ExplainSettings = mode === 'plan' ? { indexes: true, json: false } : {}
    const { text } = await context.query.explain(
      { hostKey: host.key, query, mode, planSettings, ...options },
      context.call,
    )
    return result(`As ${host.name} explains it.`, { mode, lines: (text ?? '').split('\n') })
  },
})
