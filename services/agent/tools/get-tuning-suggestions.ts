import { z } from 'zod'
import { findHost, defineReadTool, createToolResult } from '#shared/tools/tool.ts'
import { hostParameter } from '#shared/tools/tool-parameters.ts'

export const getTuningSuggestions = defineReadTool({
  name: 'get_tuning_suggestions',
  title: 'Advice for a host',
  description:
    'Settings of a host that do not fit its hardware, and notes on upgrading its release: changed defaults, and what to check first.',
  feature: 'SETTINGS',
  input: z.strictObject(hostParameter),
  async run({ hostId }, context) {
    const host = await findHost(context, hostId)
    const { recommendations, notes } = await context.report.adviseHost({ hostKey: host.key }, context.call)
    const [first] = recommendations
    const text = first
      ? `${recommendations.length} recommendations for ${host.name}, the first: ${first.title}.`
      : `No recommendations for ${host.name}.`
    return createToolResult(text, { recommendations, notes })
  },
})
