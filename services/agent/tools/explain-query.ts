import { z } from 'zod'
import { ExplainMode, type ExplainSettings } from '#proto/explain.ts'
import { name } from '#shared/tools/tool-parameters.ts'
import { hostAt, ofHost, readTool, sql, told } from '../read-tool.ts'

/** `analyze` executes the statement, which `query` is for. */
const modes = ExplainMode.exclude(['analyze', 'estimate'])

export const explainQuery = readTool({
  name: 'explain_query',
  title: 'Explain a query',
  description:
    'What the host would do with a SELECT, without doing it: the plan with the indexes it uses, the pipeline, the syntax as rewritten.',
  feature: 'QUERIES',
  input: z.strictObject({
    ...ofHost,
    sql,
    mode: modes.default('plan').describe('What to explain'),
    database: name('Where names without a database are looked up').optional(),
  }),
  async run({ hostId, sql: query, mode, ...asked }, asking) {
    const host = await hostAt(asking, hostId)
    const planSettings: ExplainSettings = mode === 'plan' ? { indexes: true, json: false } : {}
    const { text } = await asking.query.explain({ hostKey: host.key, query, mode, planSettings, ...asked }, asking.call)
    return told(`As ${host.name} explains it.`, { mode, lines: (text ?? '').split('\n') })
  },
})
