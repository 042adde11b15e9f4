import { z } from 'zod'
import { Recommendation } from '#proto/advice.ts'
import { maxStatementLength } from '#proto/console.ts'
import { ServiceError } from '#proto/errors.ts'
import { findHost, defineReadTool, createToolResult } from '#shared/tools/tool.ts'
import { createNameParameter, hostParameter } from '#shared/tools/tool-parameters.ts'

export const getOptimizationRecommendations = defineReadTool({
  name: 'get_optimization_recommendations',
  title: 'Advice for a query',
  description:
    'Ranked advice for one SELECT: skip index, projection, partition key or PREWHERE, with DDL, savings, risk, and whether the host verified it.',
  feature: 'QUERIES',
  example: { sql: 'SELECT count() FROM system.tables' },
  input: z.strictObject({
    ...hostParameter,
    sql: z.string().min(1).max(maxStatementLength).optional().describe('SELECT, or use queryId'),
    queryId: z.string().min(1).max(256).optional().describe('Logged query'),
    database: createNameParameter('Default database for unqualified names').optional(),
  }),
  output: z.object({
    recommendations: z.array(Recommendation.omit({ includesValues: true })),
    notes: z.array(z.string()),
  }),
  async run({ hostId, sql, queryId, database }, context) {
    if ((sql === undefined) === (queryId === undefined))
      throw new ServiceError(
        'invalid',
        'set either sql or queryId; get_slow_queries returns the queryId of logged queries',
      )
    const host = await findHost(context, hostId)
    const request = {
      hostKey: host.key,
      ...(sql !== undefined && { query: sql }),
      ...(queryId !== undefined && { queryId }),
      ...(database !== undefined && { database }),
    }
    const { recommendations, notes } = await context.report.advise(request, context.call)
    const hidesValues = queryId !== undefined && !context.fullStatements
    const [best] = recommendations
    const text = best
      ? `${recommendations.length} on ${host.name}, the best ${best.proof}: ${best.title} on ${best.table}.`
      : `No recommendations for this query on ${host.name}. ${notes.join(' ')}`
    return createToolResult(text, {
      recommendations: recommendations.map(({ includesValues, ...recommendation }) =>
        // Logged statements are returned without their literal values.
        hidesValues && includesValues ? { ...recommendation, ddl: null, rewritten: null } : recommendation,
      ),
      notes,
    })
  },
})
