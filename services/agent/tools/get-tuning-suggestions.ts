import { z } from 'zod'
import { hostAt, ofHost, readTool, told } from '../read-tool.ts'

export const getTuningSuggestions = readTool({
  name: 'get_tuning_suggestions',
  title: 'Advice for a host',
  description:
    'Settings of a host that do not suit its hardware, and notes on upgrading its release: defaults that changed, and what to look at first.',
  feature: 'SETTINGS',
  input: z.strictObject(ofHost),
  async run({ hostId }, asking) {
    const host = await hostAt(asking, hostId)
    const { recommendations, notes } = await asking.report.adviseHost({ hostKey: host.key }, asking.call)
    const [first] = recommendations
    const text = first
      ? `${recommendations.length} on ${host.name}, the first: ${first.title}.`
      : `Nothing to advise on ${host.name}.`
    return told(text, { recommendations, notes })
  },
})
