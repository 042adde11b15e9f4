import { z } from 'zod'
import { Recommendation } from '#proto/advice.ts'
import { longestStatement } from '#proto/console.ts'
import { name } from '#shared/tools/tool-parameters.ts'
import { hostAt, ofHost } from '../asking.ts'
import { tool } from '../tool.ts'

export const getOptimizationRecommendations = tool({
  name: 'get_optimization_recommendations',
  title: 'Advice for a query',
  description:
    'Ranked advice for one SELECT: skip index, projection, partition key or PREWHERE, with DDL, savings, risk, and whether the host verified it.',
  feature: 'QUERIES',
  input: z.strictObject({
    ...ofHost,
    sql: z.string().min(1).max(longestStatement).optional().describe('The SELECT; or give queryId'),
    queryId: z.string().min(1).max(256).optional().describe('A query in the log'),
    database: name('Database of names without one').optional(),
  }),
  output: z.object({
    recommendations: z.array(Recommendation.omit({ tellsValues: true })),
    notes: z.array(z.string()),
  }),
  async run({ hostId, sql, queryId, database }, asking) {
    const host = await hostAt(asking, hostId)
    const asked = {
      hostKey: host.key,
      ...(sql !== undefined && { query: sql }),
      ...(queryId !== undefined && { queryId }),
      ...(database !== undefined && { database }),
    }
    const { recommendations, notes } = await asking.report.advise(asked, asking.call)
    const hidesValues = queryId !== undefined && !asking.fullStatements
    const [best] = recommendations
    const text = best
      ? `${recommendations.length} on ${host.name}, the best ${best.proof}: ${best.title} on ${best.table}.`
      : `Nothing to advise on ${host.name}. ${notes.join(' ')}`
    return {
      text,
      structured: {
        recommendations: recommendations.map(({ tellsValues, ...told }) =>
          // A statement of the log is not told with the values in it.
          hidesValues && tellsValues ? { ...told, ddl: null, rewritten: null } : told,
        ),
        notes,
      },
    }
  },
})
