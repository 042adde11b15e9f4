import type { z } from 'zod'
import type { Call } from '#proto/call.ts'
import type { QueryDetail } from '#proto/query-detail.ts'
import type { Unavailable } from '#proto/unavailable.ts'
import { missingNeeds, unavailableBy } from '../clickhouse/availability.ts'
import type { DatabaseClient } from '../clickhouse/client.ts'
import { type Scope, expandMacros } from '../definitions/macros.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { Parts } from '../parts.ts'
import { children } from './query-parts.ts'
import { readRecords } from './records.ts'

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

interface Asked<S extends z.ZodType> {
  requires: readonly string[]
  limit: number
  sql: string
  row: S
}

interface Place {
  client: DatabaseClient
  host: MonitoredHost
  queryId: string
  scope: Scope
  call: Call
}

/** The rows of one part of a query's detail; a log that is not kept or closed makes it unavailable. */
export const readPart = async <S extends z.ZodType>(
  { client, host, queryId, scope, call }: Place,
  part: Asked<S>,
): Promise<{ rows: z.output<S>[]; truncated: boolean; unavailable: Unavailable | null }> => {
  const missing = await missingNeeds(client, host, part, call)
  if (missing) return { rows: [], truncated: false, unavailable: missing }
  const sql = expandMacros(`${part.sql}\nLIMIT ${part.limit + 1}`, scope)
  const parameters = { query_id: queryId }
  const statement = { what: 'query-detail', sql, parameters }
  try {
    const answer = await client.run(host, statement, call)
    const rows = readRecords(host, part.row, answer)
    return { rows: rows.slice(0, part.limit), truncated: rows.length > part.limit, unavailable: null }
  } catch (error) {
    const unavailable = unavailableBy(client, host, part, error)
    if (unavailable) return { rows: [], truncated: false, unavailable }
    throw error
  }
}
