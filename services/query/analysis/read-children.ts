import type { Call } from '#proto/call.ts'
import type { QueryDetail } from '#proto/query-detail.ts'
import type { Scope } from '../definitions/macros.ts'
import type { Parts } from '../handlers/parts.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { children } from './query-parts.ts'
import { readPart } from './read-part.ts'

/** Hosts that are asked besides the query's own; a page must not become a sweep of the fleet. */
const maxRelatives = 16
/** Of asking one of them; the page waits for the slowest. */
const relativeMs = 5_000

type Children = QueryDetail['children']
type Answered = Omit<Children, 'askedHosts' | 'silentHosts'>

/** What a query caused, on its host and on the other hosts of its group: each host logs only what ran there. */
export const readChildren = async (
  parts: Parts,
  host: MonitoredHost,
  queryId: string,
  scope: Scope,
  call: Call,
): Promise<Children> => {
  const relatives = relativesOf(parts, host)
  const brief = { ...call, deadline: Math.min(call.deadline, parts.clock.elapsedMs() + relativeMs) }
  const [own, ...others] = await Promise.all([
    childrenOn(parts, host, queryId, scope, call),
    ...relatives.map((relative) => childrenOn(parts, relative, queryId, scope, brief).catch(() => null)),
  ])
  const isSilent = (index: number): boolean => !others[index] || others[index].unavailable !== null
  const answered = [own, ...others].flatMap((part) => part ?? [])
  const found = distinct(answered.flatMap(({ rows }) => rows)).toSorted((a, b) => b.durationMs - a.durationMs)
  return {
    rows: found.slice(0, children.limit),
    truncated: found.length > children.limit || answered.some(({ truncated }) => truncated),
    unavailable: own.unavailable,
    askedHosts: [host, ...relatives].map(({ name }) => name),
    silentHosts: relatives.filter((_, index) => isSilent(index)).map(({ name }) => name),
  }
}

/** Hosts of the same group, those that are known to be down left out: they would only be waited for. */
const relativesOf = (parts: Parts, host: MonitoredHost): MonitoredHost[] => {
  const down = new Set(parts.probe.states().flatMap(({ key, status }) => (status === 'down' ? [key] : [])))
  return parts.hosts
    .list()
    .filter(({ key, group }) => key !== host.key && group === host.group && !down.has(key))
    .slice(0, maxRelatives)
}

const childrenOn = async (
  { client }: Parts,
  host: MonitoredHost,
  queryId: string,
  scope: Scope,
  call: Call,
): Promise<Answered> => {
  const { logs } = await client.capabilities(host, call)
  const place = { client, host, queryId, scope: { ...scope, logs }, call }
  const { rows, ...rest } = await readPart(place, children)
  return { ...rest, rows: rows.map((row) => ({ ...row, host: host.name })) }
}

/** Two entries of the host list may lead to one server. */
const distinct = (rows: Children['rows']): Children['rows'] => [
  ...new Map(rows.toReversed().map((row) => [`${row.queryId} ${row.endedMs}`, row])).values(),
]
