import { z } from 'zod'
import type { AlertHistoryEntry } from '#proto/alert-history.ts'
import { maxAlertHistoryEntries } from '#proto/alerting.ts'
import { maxDeploymentsListed, type Deployment } from '#proto/deployments.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Host } from '#proto/host.ts'
import { createToolResult, defineReadTool, findHost, type ToolContext } from '#shared/tools/tool.ts'
import {
  createHoursParameter,
  createLimitParameter,
  createNameParameter,
  hostParameter,
  structuredParameter,
} from '#shared/tools/tool-parameters.ts'
import { formatRecords } from '../result-rows.ts'
import { formatCountedNoun, formatInstant } from '../result-text.ts'

/** The kinds of changes. The first five come from the logs of the host. */
const changeKinds = ['version', 'server', 'settings', 'schema', 'access', 'deployment', 'alert'] as const
const ChangeKind = z.enum(changeKinds)

const Change = z.object({ at: z.string(), kind: z.string(), what: z.string() })
type Change = z.infer<typeof Change>

export const getChanges = defineReadTool({
  name: 'get_changes',
  title: 'What changed',
  description: 'Changes of version, settings, schema and access, deployments and alerts of a host, newest first.',
  feature: 'METRICS',
  input: z.strictObject({
    ...hostParameter,
    lastHours: createHoursParameter(24),
    kind: ChangeKind.optional().describe('Only this kind'),
    search: createNameParameter('Part of the text').optional(),
    limit: createLimitParameter(50, 500),
    ...structuredParameter,
  }),
  output: z.object({
    changes: z.array(Change),
    /** The sources that could not be read, with the reason. */
    unavailable: z.array(z.string()),
    truncated: z.boolean(),
  }),
  format: ({ changes }) => formatRecords(changes),
  async run({ hostId, lastHours, kind, search = '', limit }, context) {
    const host = await findHost(context, hostId)
    const toMs = context.clock.now()
    const range = { fromMs: toMs - lastHours * hourMs, toMs, lastHours }
    const sources = await Promise.all(
      listSources(context, host, range).map(async ({ name, read }) => readSource(name, read, context)),
    )
    const wanted = search.toLowerCase()
    const found = sources
      .flatMap(({ changes }) => changes)
      .filter(({ kind: each, what }) => (kind === undefined || each === kind) && what.toLowerCase().includes(wanted))
      .toSorted((one, other) => other.at.localeCompare(one.at))
    const unavailable = sources.flatMap((source) => source.unavailable ?? [])
    const changes = found.slice(0, limit)
    const more = found.length > limit ? `, the newest of ${found.length}` : ''
    const gaps = unavailable.map((reason) => ` Not included: ${reason}.`).join('')
    const text = `${formatCountedNoun(changes.length, 'change')} in the last ${lastHours} h on ${host.name}${more}.${gaps}`
    return createToolResult(text, { changes, unavailable, truncated: found.length > limit })
  },
})

const hourMs = 3_600_000

interface Range {
  fromMs: number
  toMs: number
  lastHours: number
}

interface Source {
  name: string
  read(): Promise<Change[]>
}

/** Reads one source. A failed one is reported, so that an empty list is not mistaken for an unchanged host. */
const readSource = async (name: string, read: Source['read'], { call }: ToolContext) => {
  try {
    return { changes: await read(), unavailable: null }
  } catch (error) {
    if (!(error instanceof ServiceError) || call.signal.aborted) throw error
    return { changes: [], unavailable: `${name}: ${error.message}` }
  }
}

const listSources = (context: ToolContext, host: Host, range: Range): Source[] => {
  const { alerts, ingest, call } = context
  const { fromMs, toMs } = range
  return [
    { name: 'changes of the host', read: () => readHostChanges(context, host, range) },
    {
      name: 'deployments',
      read: async () =>
        ingest ? (await ingest.deployments({ fromMs, toMs, limit: maxDeploymentsListed }, call)).map(ofDeployment) : [],
    },
    {
      name: 'alerts',
      read: async () => {
        if (alerts === undefined) return []
        const request = { hostKey: host.key, fromMs, toMs, limit: maxAlertHistoryEntries }
        return (await alerts.alertHistory(request, call)).flatMap(ofAlert)
      },
    },
  ]
}

const HostChange = z.object({ time: z.coerce.number(), kind: z.string(), what: z.string() })

const readHostChanges = async ({ query, call }: ToolContext, host: Host, { lastHours }: Range): Promise<Change[]> => {
  const { rows, unavailable } = await query.chart(
    { hostKey: host.key, name: 'host-changes', lastHours, parameters: {} },
    call,
  )
  if (unavailable) throw new ServiceError('unavailable', unavailable.message)
  // Newest first, also within a second.
  return rows.toReversed().map((row) => {
    const { time, kind, what } = HostChange.parse(row)
    return { at: formatInstant(time), kind: kind.toLowerCase(), what }
  })
}

const ofDeployment = ({ atMs, repository, title, environment, outcome, by }: Deployment): Change => {
  const details = [environment, outcome, by && `by ${by}`].filter(Boolean).join(', ')
  return { at: formatInstant(atMs), kind: 'deployment', what: `${repository}: ${title}${details && ` (${details})`}` }
}

/** The events of conditions that are changes. Reminders and muted notifications are none. */
const alertWords: Readonly<Record<string, string>> = {
  fire: 'fired',
  escalate: 'became critical',
  lower: 'became a warning',
  recover: 'recovered',
}

const ofAlert = ({ kind, atMs, title, severity }: AlertHistoryEntry): Change[] => {
  const word = alertWords[kind]
  return word === undefined ? [] : [{ at: formatInstant(atMs), kind: 'alert', what: `${title} ${word} (${severity})` }]
}
