import { z } from 'zod'
import { shortenText } from '#shared/text/strings.ts'
import { findHost, defineReadTool, createToolResult } from '#shared/tools/tool.ts'
import { createHoursParameter, createLimitParameter, hostsParameter } from '#shared/tools/tool-parameters.ts'

const maxStatementLength = 500

export const compareHosts = defineReadTool({
  name: 'compare_hosts',
  title: 'Compare hosts',
  description:
    'Compares hosts: key metrics, the query patterns whose duration differs most, and optionally the settings that differ.',
  feature: 'QUERIES',
  input: z.strictObject({
    ...hostsParameter,
    lastHours: createHoursParameter(24),
    settings: z.boolean().default(false).describe('Also return the settings that differ'),
    limit: createLimitParameter(10, 100),
  }),
  async run({ hostIds, lastHours: hours, settings, limit }, context) {
    const hostRefs = await Promise.all(hostIds.map((hostId) => findHost(context, hostId)))
    const hostKeys = hostRefs.map(({ key }) => key)
    const [{ hosts, patterns }, diff] = await Promise.all([
      context.query.comparison({ hostKeys, lastHours: hours, limit }, context.call),
      settings ? context.query.settingsDiff({ hostKeys, differentOnly: true }, context.call) : undefined,
    ])
    const silent = hosts.filter(({ error }) => error !== null).length
    const text = `${hosts.length} hosts compared${silent > 0 ? `, ${silent} of them without data` : ''}.`
    return createToolResult(text, {
      hosts: hosts.map((host, index) => ({ name: hostRefs[index]?.name, ...host })),
      patterns: patterns.map((pattern) => ({ ...pattern, query: shortenText(pattern.query, maxStatementLength) })),
      ...(diff && { settings: diff.rows.map(({ table, name, values }) => ({ table, name, values })) }),
    })
  },
})
