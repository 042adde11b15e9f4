import { z } from 'zod'
import type { Host, HostState } from '#proto/host.ts'
import { integerSchema } from '#shared/tools/read-rows.ts'
import { createToolResult, defineReadTool } from '#shared/tools/tool.ts'
import {
  createLimitParameter,
  createNameParameter,
  onlyHostParameter,
  structuredParameter,
} from '#shared/tools/tool-parameters.ts'
import { selectHosts } from '../select-hosts.ts'
import { formatRecords } from '../result-rows.ts'
import { formatCountedNoun, formatNames } from '../result-text.ts'

export const listHosts = defineReadTool({
  name: 'list_hosts',
  title: 'List hosts',
  description: 'Monitored hosts with their hostId, group, tags, state and version.',
  feature: null,
  input: z.strictObject({
    ...onlyHostParameter,
    search: createNameParameter('Part of name, group or tag').optional(),
    limit: createLimitParameter(200, 1_000),
    ...structuredParameter,
  }),
  output: z.object({
    hosts: z.array(
      z.object({
        hostId: integerSchema,
        name: z.string(),
        group: z.string().nullable(),
        tags: z.array(z.string()),
        /** `up`, `down`, or `unknown` before the first probe. */
        status: z.string(),
        reason: z.string().nullable(),
        version: z.string().nullable(),
      }),
    ),
    truncated: z.boolean(),
  }),
  format: ({ hosts }) => formatRecords(hosts),
  async run({ hostId, search = '', limit }, context) {
    const [listed, states] = await Promise.all([
      selectHosts(context, hostId),
      context.query.hostStates({}, context.call),
    ])
    const stateOf = new Map(states.map((state) => [state.key, state]))
    const found = listed.filter((host) => matches(host, search))
    const hosts = found.slice(0, limit).map((host) => toHostEntry(host, stateOf.get(host.key)))
    const down = hosts.filter(({ status }) => status === 'down').map(({ name }) => name)
    const notes = [
      down.length > 0 && `${formatNames(down)} ${down.length === 1 ? 'is' : 'are'} down.`,
      found.length > limit && `${found.length - limit} more; set search or limit.`,
      found.length === 0 && `All hosts: ${formatNames(listed.map(({ name }) => name))}.`,
    ]
    const text = [`${formatCountedNoun(hosts.length, 'host')}.`, ...notes.filter(Boolean)].join(' ')
    return createToolResult(text, { hosts, truncated: found.length > limit })
  },
})

const matches = ({ name, group, tags }: Host, search: string): boolean =>
  [name, group ?? '', ...tags].some((text) => text.toLowerCase().includes(search.toLowerCase()))

const toHostEntry = ({ id, name, group, tags }: Host, state: HostState | undefined) => ({
  hostId: id,
  name,
  group,
  tags,
  status: state?.status ?? 'unknown',
  reason: state?.reason ?? null,
  version: state?.version ?? null,
})
