import { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Finding } from '#proto/finding.ts'
import type { FleetHost } from '#proto/fleet.ts'
import { integerSchema } from '#shared/tools/read-rows.ts'
import { createToolResult, defineReadTool, type ToolContext } from '#shared/tools/tool.ts'
import { createLimitParameter, onlyHostParameter, structuredParameter } from '#shared/tools/tool-parameters.ts'
import { formatRecords } from '../result-rows.ts'
import { formatCountedNoun, formatNames } from '../result-text.ts'
import { selectHosts } from '../select-hosts.ts'

const HostHealth = z.object({
  hostId: integerSchema,
  name: z.string(),
  status: z.string(),
  reason: z.string().nullable(),
  /** Severity and title of the worst open problem; null without one. */
  severity: z.string().nullable(),
  problem: z.string().nullable(),
  version: z.string().nullable(),
  queries: integerSchema.nullable(),
  merges: integerSchema.nullable(),
  cpuPercent: integerSchema.nullable(),
  memoryPercent: integerSchema.nullable(),
  diskPercent: integerSchema.nullable(),
  readonlyReplicas: integerSchema.nullable(),
  replicaDelaySeconds: z.number().nullable(),
})
type HostHealth = z.infer<typeof HostHealth>

export const getFleetHealth = defineReadTool({
  name: 'get_fleet_health',
  title: 'Health of all hosts',
  description: 'State, worst problem and load of every host in one call, worst first. Reads no host.',
  feature: 'OVERVIEW',
  input: z.strictObject({ ...onlyHostParameter, limit: createLimitParameter(100, 1_000), ...structuredParameter }),
  output: z.object({ hosts: z.array(HostHealth), unavailable: z.array(z.string()), truncated: z.boolean() }),
  format: ({ hosts }) => formatRecords(hosts),
  async run({ hostId, limit }, context) {
    const [listed, fleet, problems] = await Promise.all([
      selectHosts(context, hostId),
      context.query.fleet({}, context.call),
      readProblems(context),
    ])
    const keys = new Set(listed.map(({ key }) => key))
    const all = fleet
      .filter(({ key }) => keys.has(key))
      .map((host) => toHostHealth(host, problems.of.get(host.key)))
      .toSorted((one, other) => rank(other) - rank(one))
    const hosts = all.slice(0, limit)
    const notes = problems.unavailable.map((source) => ` Problems of ${source} are unavailable.`)
    const more = all.length > limit ? ` ${all.length - limit} more; set limit.` : ''
    return createToolResult(`${describeFleet(all)}${more}${notes.join('')}`, {
      hosts,
      unavailable: problems.unavailable,
      truncated: all.length > limit,
    })
  },
})

/** The worst problem of each host by key, and the sources that did not respond. */
interface Problems {
  of: ReadonlyMap<string, Finding>
  unavailable: string[]
}

const readProblems = async ({ alerts, report, call }: ToolContext): Promise<Problems> => {
  const sources: readonly (readonly [string, (call: CallContext) => Promise<(Finding & { hostKey: string })[]>])[] = [
    ...(alerts ? [['alerts', (own: CallContext) => alerts.worstFindings({}, own)] as const] : []),
    ['insights', (own) => report.worstFindings({}, own)],
  ]
  const unavailable: string[] = []
  const found = await Promise.all(
    sources.map(async ([name, read]) => {
      try {
        return await read(call)
      } catch (error) {
        if (!(error instanceof ServiceError) || call.signal.aborted) throw error
        unavailable.push(name)
        return []
      }
    }),
  )
  // Critical problems come last, because later entries of a Map replace earlier ones.
  const worstLast = found.flat().toSorted((one, other) => severityRank(one.severity) - severityRank(other.severity))
  return { of: new Map(worstLast.map((finding) => [finding.hostKey, finding])), unavailable }
}

const severityRank = (severity: string | null): number => (severity === 'critical' ? 2 : severity === 'warning' ? 1 : 0)

const percent = (part: number | null | undefined, whole: number | null | undefined): number | null =>
  part === null || part === undefined || !whole ? null : Math.round((part / whole) * 100)

const toHostHealth = (host: FleetHost, finding: Finding | undefined): HostHealth => {
  const { id, name, status, reason, version, load } = host
  return {
    hostId: id,
    name,
    status,
    reason,
    severity: finding?.severity ?? null,
    problem: finding?.title ?? null,
    version,
    queries: load?.runningQueries ?? null,
    merges: load?.merges ?? null,
    cpuPercent: percent(load?.cpuUsage, 1),
    memoryPercent: percent(load?.memoryUsedBytes, load?.memoryTotalBytes),
    diskPercent: percent(load?.diskUsedBytes, load?.diskTotalBytes),
    readonlyReplicas: load?.readonlyReplicas ?? null,
    replicaDelaySeconds: load?.maxReplicaDelaySeconds ?? null,
  }
}

const rank = ({ status, severity }: HostHealth): number => (status === 'down' ? 3 : severityRank(severity))

const describeFleet = (hosts: readonly HostHealth[]): string => {
  const names = (wanted: (host: HostHealth) => boolean) => hosts.filter(wanted).map(({ name }) => name)
  const groups = [
    ['down', names(({ status }) => status === 'down')],
    ['critical', names(({ status, severity }) => status !== 'down' && severity === 'critical')],
    ['with warnings', names(({ status, severity }) => status !== 'down' && severity === 'warning')],
    ['not probed yet', names(({ status }) => status === 'unknown')],
  ] as const
  const parts = groups.flatMap(([word, found]) =>
    found.length > 0 ? [`${found.length} ${word}: ${formatNames(found)}`] : [],
  )
  const summary = parts.length > 0 ? parts.join('; ') : 'no known problems'
  return `${formatCountedNoun(hosts.length, 'host')}: ${summary}.`
}
