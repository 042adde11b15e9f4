import { z } from 'zod'
import { Insight } from '#proto/insights.ts'
import { findHost, defineReadTool, createToolResult } from '#shared/tools/tool.ts'
import { createNameParameter, hostParameter } from '#shared/tools/tool-parameters.ts'

const Fact = Insight.pick({
  kind: true,
  subject: true,
  severity: true,
  title: true,
  detail: true,
  signal: true,
  window: true,
  baseline: true,
  value: true,
  unit: true,
  score: true,
  confidence: true,
})

export const explainAnomalyScore = defineReadTool({
  name: 'explain_anomaly_score',
  title: 'Anomalies and their scores',
  description:
    'Current anomalies of a host with value, baseline and score: failures, duration, memory, new errors, slower query patterns, stopped inserts.',
  feature: 'INSIGHTS',
  core: true,
  input: z.strictObject({
    ...hostParameter,
    kind: createNameParameter('Only anomalies of this kind, with the SQL that shows them').optional(),
  }),
  async run({ hostId, kind }, context) {
    const host = await findHost(context, hostId)
    const { anomalies, notes } = await context.report.anomalies({ hostKey: host.key }, context.call)
    const wanted = anomalies.filter((each) => kind === undefined || each.kind === kind)
    const facts = wanted.map((each) => ({ ...Fact.parse(each), ...(kind !== undefined && { sql: each.evidenceSql }) }))
    const [worst] = wanted
    return createToolResult(
      worst ? `${wanted.length} on ${host.name}, worst: ${worst.title}` : `No anomalies on ${host.name}.`,
      {
        anomalies: facts,
        notes,
      },
    )
  },
})
