import { z } from 'zod'
import type { Sql } from '#proto/catalogue.ts'
import { quoteName, quoteText } from '#shared/sql/quote.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { Statement } from './statement.ts'

/** What a host can do for its configured user. */
export interface Capabilities {
  version: string
  /** The `readonly` setting of the user's profile: 1 forbids every setting in a request. */
  readonly: number
  /** Tables of the database `system` that the user may see; the same object for hosts that have the same ones and read their logs alike. */
  tables: ReadonlySet<string>
  /** Of these, what is read of logs that were rotated. */
  logs: RotatedLogs
}

export type Presence = 'present' | 'missing' | 'denied'

const freshMs = 60_000
/** Older than this an answer is waited for instead of being renewed behind the caller's back. */
const usableMs = 300_000

interface Known {
  capabilities: Capabilities
  learnedMs: number
  presences: Map<string, Promise<Presence>>
}

/** Remembers what hosts can do. Failures are never remembered: neither of a host nor of one table. */
interface CapabilityCache {
  of(host: MonitoredHost, load: () => Promise<Capabilities>): Promise<Capabilities>
  /** Whether a table outside what `of` told is there. */
  presence(host: MonitoredHost, table: string, look: () => Promise<Presence>): Promise<Presence>
  /** What is known already, however old. */
  known(host: MonitoredHost): Capabilities | undefined
  forget(host: MonitoredHost): void
}

/** Entries hang on the host object, so a changed host list begins anew. */
export const openCapabilityCache = (elapsedMs: () => number): CapabilityCache => {
  const known = new WeakMap<MonitoredHost, Known>()

  const renew = async (host: MonitoredHost, load: () => Promise<Capabilities>): Promise<Capabilities> => {
    const capabilities = await load()
    known.set(host, { capabilities, learnedMs: elapsedMs(), presences: new Map() })
    return capabilities
  }

  return {
    async of(host, load) {
      const entry = known.get(host)
      const ageMs = entry ? elapsedMs() - entry.learnedMs : Number.POSITIVE_INFINITY
      if (entry && ageMs < freshMs) return entry.capabilities
      if (!entry || ageMs >= usableMs) return renew(host, load)
      renew(host, load).catch(() => undefined)
      return entry.capabilities
    },
    async presence(host, table, look) {
      const presences = known.get(host)?.presences
      const remembered = presences?.get(table)
      if (remembered) return remembered
      const looking = look()
      presences?.set(table, looking)
      try {
        return await looking
      } catch (error) {
        presences?.delete(table)
        throw error
      }
    },
    known: (host) => known.get(host)?.capabilities,
    forget: (host) => void known.delete(host),
  }
}

/** What is read of a log of `system` that the server has rotated, by the log's name; others are read by their names. */
export type RotatedLogs = ReadonlyMap<string, string>

/** Names of a log and of its earlier tables, by the log. */
type Rotations = ReadonlyMap<string, readonly string[]>

/** Older servers refuse `merge` in read-only statements, and to users who may not create temporary tables. */
const mergesReadOnly = '25.6'

const rotationsOf = (tables: ReadonlySet<string>): Rotations => {
  const earlier = [...tables].filter((table) => /^[a-z_]+_\d+$/.test(table)).toSorted()
  const rotations = Map.groupBy(earlier, (table) => table.slice(0, table.lastIndexOf('_')))
  return new Map([...rotations].flatMap(([log, rest]) => (tables.has(log) ? [[log, [log, ...rest]] as const] : [])))
}

/** Asks for the columns of rotated logs where they have to be told one by one; none where there is no need to. */
export const logColumnsStatement = (version: string, tables: ReadonlySet<string>): Statement | undefined => {
  const names = [...rotationsOf(tables).values()].flat()
  if (names.length === 0 || compareVersions(version, mergesReadOnly) >= 0) return undefined
  return {
    what: 'capabilities',
    bare: true,
    maxSeconds: 10,
    sql: `SELECT table, groupArray([name, type])
FROM (
  SELECT table, name, type
  FROM system.columns
  WHERE database = 'system' AND table IN (${names.map(quoteText).join(', ')}) AND default_kind != 'ALIAS'
  ORDER BY table, position
)
GROUP BY table`,
  }
}

/** Names and types of columns by table, as they are answered. */
export const LogColumns = z.array(z.tuple([z.string(), z.array(z.tuple([z.string(), z.string()]))]))

/** What is read of the rotated logs; with the columns of all of them where these had to be asked for. */
export const rotatedLogs = (tables: ReadonlySet<string>, answered?: z.infer<typeof LogColumns>): RotatedLogs => {
  const columns = answered && new Map(answered)
  const sourceOf = (log: string, names: readonly string[]): string =>
    columns ? union(names, columns) : String.raw`merge('system', '^${log}(_\\d+)?$')`
  return new Map([...rotationsOf(tables)].map(([log, names]) => [log, sourceOf(log, names)]))
}

type ColumnsOf = ReadonlyMap<string, readonly (readonly [name: string, type: string])[]>

/** The tables of one log as a subquery with the columns of the first: what an earlier one lacks has the default of its type. */
const union = ([log = '', ...earlier]: readonly string[], columns: ColumnsOf): string => {
  const wanted = columns.get(log) ?? []
  const selected = [log, ...earlier].map((table) => {
    const types = new Map(columns.get(table))
    const expressions = wanted.map(([name, type]) => columnAs(name, type, types.get(name)))
    return `SELECT ${expressions.join(', ')} FROM system.${table}`
  })
  return `(${selected.join(' UNION ALL ')})`
}

const columnAs = (name: string, type: string, found: string | undefined): string => {
  const column = quoteName(name)
  if (found === type) return column
  const text = quoteText(type)
  return found === undefined ? `defaultValueOfTypeName(${text}) AS ${column}` : `CAST(${column}, ${text}) AS ${column}`
}

/** The statement for a server: the highest `since` not above its version; none when all are above. */
export const sqlFor = (sql: Sql, serverVersion: string): string | undefined => {
  if (typeof sql === 'string') return sql
  const fitting = sql.filter((branch) => compareVersions(branch.since, serverVersion) <= 0)
  return fitting.toSorted((a, b) => compareVersions(b.since, a.since))[0]?.sql
}

/** Compares year and month of two versions such as `24.3` and `24.11.2.1`. */
export const compareVersions = (a: string, b: string): number => {
  const [aYear = 0, aMonth = 0] = a.split('.').map(Number)
  const [bYear = 0, bMonth = 0] = b.split('.').map(Number)
  return aYear - bYear || aMonth - bMonth
}
