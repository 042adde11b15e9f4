import { z } from 'zod'
import { maxChanges } from '#proto/changes.ts'
import { ServiceError } from '#proto/errors.ts'
import { type ChangeKind, changeKinds, type ListedChange } from '#proto/http/changes.ts'
import type { Host } from '#proto/host.ts'
import { readTimeline } from '#shared/changes/timeline.ts'
import { shortenWithEllipsis } from '#shared/text/strings.ts'
import { createToolResult, defineReadTool, findHost, type ToolContext } from '#shared/tools/tool.ts'
import {
  createHoursParameter,
  createLimitParameter,
  createNameParameter,
  createTimeParameter,
  onlyHostParameter,
  structuredParameter,
} from '#shared/tools/tool-parameters.ts'
import { formatInstant } from '#shared/time/format-instant.ts'
import { formatRecords } from '../result-rows.ts'
import { formatCountedNoun } from '../result-text.ts'
import { requireAlerts } from '../alert-state.ts'

const hourMs = 3_600_000
/** Maximum length of one diff, and of all diffs of a result, in characters. */
const maxDiffLength = 4_000
const maxDiffsLength = 30_000

const Change = z.object({
  at: z.string(),
  /** Null if the change concerns no single host, or only one host was requested. */
  host: z.string().nullable(),
  kind: z.string(),
  what: z.string(),
  /** `history`, or the log of the host where none is recorded, or the service of deployments or alerts. */
  source: z.string(),
  diff: z.string().nullable(),
})
type Change = z.infer<typeof Change>

export const getChanges = defineReadTool({
  name: 'get_changes',
  title: 'What changed',
  description:
    'What changed, newest first: versions, restarts, settings, schema, access, topology, workload, deployments, alerts; also of unreachable hosts.',
  feature: 'METRICS',
  input: z.strictObject({
    ...onlyHostParameter,
    kind: z.enum(changeKinds).exclude(['action']).optional().describe('Only this kind'),
    lastHours: createHoursParameter(24),
    around: createTimeParameter('ISO time; the hour before and after').optional(),
    from: createTimeParameter('ISO time').optional(),
    to: createTimeParameter('ISO time').optional(),
    search: createNameParameter('Part of the text').optional(),
    diff: z.boolean().optional().describe('Include unified diffs'),
    limit: createLimitParameter(50, 500),
    ...structuredParameter,
  }),
  output: z.object({
    changes: z.array(Change),
    /** The sources that could not be read, with the reason. */
    unavailable: z.array(z.string()),
    truncated: z.boolean(),
  }),
  format: ({ changes }) => {
    const diffs = changes.flatMap(({ what, diff }) => (diff === null ? [] : [`${what}:\n${diff}`]))
    return [formatRecords(changes.map(({ diff: _diff, ...change }) => change)), ...diffs].join('\n\n')
  },
  async run({ hostId, kind, search = '', limit, diff = false, ...range }, context) {
    const window = resolveWindow(range, context.clock.now())
    const isOfAll = hostId === undefined && context.hostKey === undefined
    const hosts = isOfAll ? await context.hosts() : [await findHost(context, hostId)]
    const { found, unavailable } = await readChanges(context, hosts, kind, window)
    const wanted = search.toLowerCase()
    const matching = found.filter(({ what }) => what.toLowerCase().includes(wanted))
    const changes = limitDiffs(matching.slice(0, limit), diff)
    const truncated = matching.length > limit
    const recorded = changes.filter(({ source }) => source === 'history').length
    const [only] = hosts
    const where = only && hosts.length === 1 ? only.name : formatCountedNoun(hosts.length, 'host')
    const more = truncated ? ', the newest of more' : ''
    const gaps = unavailable.map((reason) => ` Not included: ${reason}.`).join('')
    const span = `from ${formatInstant(window.fromMs)} to ${formatInstant(window.toMs)}`
    const text = `${formatCountedNoun(changes.length, 'change')} on ${where} ${span}${more}, ${recorded} of them from the history.${gaps}`
    return createToolResult(text, { changes, unavailable, truncated })
  },
})

interface Window {
  fromMs: number
  toMs: number
}

interface Range {
  lastHours: number
  around?: number | undefined
  from?: number | undefined
  to?: number | undefined
}

/** Returns the requested window, which ends now by default. */
const resolveWindow = ({ lastHours, around, from, to }: Range, nowMs: number): Window => {
  if (around !== undefined) {
    if (from === undefined && to === undefined) return { fromMs: around - hourMs, toMs: around + hourMs }
    throw new ServiceError('invalid', 'around excludes from and to; set either')
  }
  const toMs = to ?? nowMs
  const fromMs = from ?? toMs - lastHours * hourMs
  if (fromMs < toMs) return { fromMs, toMs }
  throw new ServiceError('invalid', `from must be before ${to === undefined ? 'now' : 'to'}`)
}

/** Reads the timeline of the hosts. Without a history, the log of a single host contains what changed on it. */
const readChanges = async (
  context: ToolContext,
  hosts: readonly Host[],
  kind: ChangeKind | undefined,
  window: Window,
) => {
  const { query, call } = context
  const isMonitored = hosts.every(({ key }) => !key.startsWith('user:'))
  const sources = { query, alerts: requireAlerts(context), ingest: requireIngest(context) }
  const request = { hosts, kind, ...window, limit: maxChanges, showsInstallation: isMonitored }
  const { changes, isRecorded, problems } = await readTimeline(sources, request, call)
  const found = changes.map((change) => toChange(change, hosts.length > 1))
  const [only] = hosts
  if (isRecorded || only === undefined) return { found, unavailable: problems }
  if (hosts.length > 1)
    return { found, unavailable: [...problems, 'history: none is recorded; set hostId to read the log of a host'] }
  try {
    const logged = await readHostLog(context, only, kind, window)
    return {
      found: [...found, ...logged].toSorted((one, other) => other.at.localeCompare(one.at)),
      unavailable: problems,
    }
  } catch (error) {
    if (!(error instanceof ServiceError) || call.signal.aborted) throw error
    return { found, unavailable: [...problems, `log of the host: ${error.message}`] }
  }
}

const requireIngest = ({ ingest }: ToolContext): NonNullable<ToolContext['ingest']> => {
  if (ingest) return ingest
  throw new ServiceError('unavailable', 'deployments are not received here')
}

const toChange = ({ atMs, kind, host, title, detail, diff }: ListedChange, namesHosts: boolean): Change => ({
  at: formatInstant(atMs),
  host: namesHosts ? host : null,
  kind,
  what: detail === '' ? title : `${title} (${detail})`,
  source: kind === 'deployment' ? 'deployments' : kind === 'alert' ? 'alerts' : 'history',
  diff,
})

const LogRow = z.object({ time: z.coerce.number(), kind: z.string(), what: z.string() })

const readHostLog = async (
  { query, call }: ToolContext,
  host: Host,
  wanted: ChangeKind | undefined,
  { fromMs, toMs }: Window,
): Promise<Change[]> => {
  const range = { from: Math.floor(fromMs / 1_000), to: Math.ceil(toMs / 1_000) }
  const request = { hostKey: host.key, name: 'host-changes', ...range, parameters: {} }
  const { rows, unavailable } = await query.chart(request, call)
  if (unavailable) throw new ServiceError('unavailable', unavailable.message)
  // Newest first, also within a second.
  return rows.toReversed().flatMap((row) => {
    const { time, kind: named, what } = LogRow.parse(row)
    const kind = named.toLowerCase()
    if (wanted !== undefined && kind !== wanted) return []
    return [{ at: formatInstant(time), host: null, kind, what, source: 'log of the host', diff: null }]
  })
}

/** Returns changes with shortened diffs, or without any. */
const limitDiffs = (changes: readonly Change[], isWanted: boolean): Change[] => {
  let left = isWanted ? maxDiffsLength : 0
  return changes.map((change) => {
    if (change.diff === null || left <= 0) return { ...change, diff: null }
    const diff = shortenWithEllipsis(change.diff, Math.min(maxDiffLength, left))
    left -= diff.length
    return { ...change, diff }
  })
}
