import { z } from 'zod'
import { mayUseFeature } from '#proto/call.ts'
import type { Catalogue } from '#proto/catalogue.ts'
import { findHost, defineReadTool, createToolResult } from '#shared/tools/tool.ts'
import { createLimitParameter, hostParameter } from '#shared/tools/tool-parameters.ts'
import { rankByTopic } from '../rank-by-topic.ts'

export const findReferenceQuery = defineReadTool({
  name: 'find_reference_query',
  title: 'Find a reference query',
  description:
    'Finds charts and table pages by topic, each with its tested SQL for the version of the host. Adapt the SQL for query, or read the page with get_page_data.',
  feature: null,
  example: { topic: 'merges' },
  core: true,
  input: z.strictObject({
    ...hostParameter,
    topic: z.string().min(1).max(200).describe('What the query should show'),
    limit: createLimitParameter(3, 10),
  }),
  async run({ hostId, topic, limit }, context) {
    const host = await findHost(context, hostId)
    const catalogue = await context.query.catalogue({}, context.call)
    const open = listPages(catalogue).filter(({ feature }) => mayUseFeature(context.call.identity, feature))
    const found = rankByTopic(topic, open, ({ name, title, doc }) => `${name} ${title} ${doc}`).slice(0, limit)
    const references = await Promise.all(
      found.map(async ({ kind, name, title, doc }) => {
        const request = { hostKey: host.key, kind, name }
        const { sql, parameters, unavailable } = await context.query.definitionStatement(request, context.call)
        return { name, kind, title, doc, sql, parameters, unavailable: unavailable?.message ?? null }
      }),
    )
    return createToolResult(`${references.length} of ${open.length} pages, the best match first.`, { references })
  },
})

const listPages = ({ charts, tables }: Catalogue) => [
  ...tables.map(({ name, title, doc, feature }) => ({ kind: 'table' as const, name, title, doc, feature })),
  ...charts.map(({ name, title, doc, feature }) => ({ kind: 'chart' as const, name, title, doc, feature })),
]
