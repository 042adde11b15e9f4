import { z } from 'zod'
import type { VersionedSql } from '#proto/catalogue.ts'
import { quoteName, quoteText } from '#shared/sql/statement-text.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { Statement } from './statement.ts'
import type { ShowPrivilege } from './show-privileges.ts'

/** The capabilities of a host for its configured user. */
export interface HostCapabilities {
  version: string
  /** The `readonly` setting of the user's profile: 1 forbids every setting in a request. */
  readonly: number
  /** Visible tables of the database `system`. Hosts with equal tables and logs share one object. */
  tables: ReadonlySet<string>
  /** The table expressions of rotated log tables. */
  logs: RotatedLogExpressions
  /** The SHOW privileges that the user lacks; without them, the server hides rows about some objects. */
  missingShow: ReadonlySet<ShowPrivilege>
}

export type TablePresence = 'present' | 'missing' | 'denied'

const freshMs = 60_000
/** Below this age, capabilities are refreshed in the background; above it, the caller waits for the refresh. */
const usableMs = 300_000

interface CacheEntry {
  capabilities: HostCapabilities
  loadedAtMs: number
  presences: Map<string, Promise<TablePresence>>
}

/** Caches the capabilities of hosts. Failures are not cached. */
interface CapabilityCache {
  of(host: MonitoredHost, load: () => Promise<HostCapabilities>): Promise<HostCapabilities>
  /** Returns the cached presence of a table that `HostCapabilities` does not cover, or calls `look` to determine it. */
  presence(host: MonitoredHost, table: string, look: () => Promise<TablePresence>): Promise<TablePresence>
  /** Returns the cached capabilities, however old; undefined if there are none. */
  known(host: MonitoredHost): HostCapabilities | undefined
  forget(host: MonitoredHost): void
}

/** Returns an empty cache. Entries are keyed by the host object, so a changed host list starts without entries. */
export const openCapabilityCache = (elapsedMs: () => number): CapabilityCache => {
  const known = new WeakMap<MonitoredHost, CacheEntry>()

  const refresh = async (host: MonitoredHost, load: () => Promise<HostCapabilities>): Promise<HostCapabilities> => {
    const capabilities = await load()
    known.set(host, { capabilities, loadedAtMs: elapsedMs(), presences: new Map() })
    return capabilities
  }

  return {
    async of(host, load) {
      const entry = known.get(host)
      const ageMs = entry ? elapsedMs() - entry.loadedAtMs : Number.POSITIVE_INFINITY
      if (entry && ageMs < freshMs) return entry.capabilities
      if (!entry || ageMs >= usableMs) return refresh(host, load)
      refresh(host, load).catch(() => undefined)
      return entry.capabilities
    },
    async presence(host, table, look) {
      const presences = known.get(host)?.presences
      const cached = presences?.get(table)
      if (cached) return cached
      const presence = look()
      presences?.set(table, presence)
      try {
        return await presence
      } catch (error) {
        presences?.delete(table)
        throw error
      }
    },
    known: (host) => known.get(host)?.capabilities,
    forget: (host) => void known.delete(host),
  }
}

/** Table expressions by log name. Each one reads a rotated log table together with its earlier tables. */
export type RotatedLogExpressions = ReadonlyMap<string, string>

/** The names of a log table and its earlier tables, by log name. */
type Rotations = ReadonlyMap<string, readonly string[]>

/** The first version that allows `merge` in read-only statements and without CREATE TEMPORARY TABLE. */
const mergeAllowedSince = '25.6'

const rotationsOf = (tables: ReadonlySet<string>): Rotations => {
  const earlier = [...tables].filter((table) => /^[a-z_]+_\d+$/.test(table)).toSorted()
  const rotations = Map.groupBy(earlier, (table) => table.slice(0, table.lastIndexOf('_')))
  return new Map([...rotations].flatMap(([log, rest]) => (tables.has(log) ? [[log, [log, ...rest]] as const] : [])))
}

/** Returns the statement for the columns of rotated logs; undefined if none is rotated or the server allows `merge`. */
export const buildLogColumnsStatement = (version: string, tables: ReadonlySet<string>): Statement | undefined => {
  const names = [...rotationsOf(tables).values()].flat()
  if (names.length === 0 || compareVersions(version, mergeAllowedSince) >= 0) return undefined
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

/** Rows of the statement for log columns: the table, and the name and type of each column. */
export const LogColumnRows = z.array(z.tuple([z.string(), z.array(z.tuple([z.string(), z.string()]))]))

/** Returns the table expressions of rotated logs: a UNION ALL when `logColumns` is provided, else `merge`. */
export const buildRotatedLogExpressions = (
  tables: ReadonlySet<string>,
  logColumns?: z.infer<typeof LogColumnRows>,
): RotatedLogExpressions => {
  const columns = logColumns && new Map(logColumns)
  const sourceOf = (log: string, names: readonly string[]): string =>
    columns ? union(names, columns) : String.raw`merge('system', '^${log}(_\\d+)?$')`
  return new Map([...rotationsOf(tables)].map(([log, names]) => [log, sourceOf(log, names)]))
}

type ColumnsOf = ReadonlyMap<string, readonly (readonly [name: string, type: string])[]>

/** Returns a subquery over all tables of a log with the columns of the current one; missing columns get defaults. */
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

/** Returns the SQL of the branch with the highest `since` up to the server version; undefined for older servers. */
export const selectSqlBranch = (sql: VersionedSql, serverVersion: string): string | undefined => {
  if (typeof sql === 'string') return sql
  const fitting = sql.filter((branch) => compareVersions(branch.since, serverVersion) <= 0)
  return fitting.toSorted((a, b) => compareVersions(b.since, a.since))[0]?.sql
}

/** Compares versions such as `24.3` and `24.11.2.1` by year and month. Returns a negative number if `a` is older. */
export const compareVersions = (a: string, b: string): number => {
  const [aYear = 0, aMonth = 0] = a.split('.').map(Number)
  const [bYear = 0, bMonth = 0] = b.split('.').map(Number)
  return aYear - bYear || aMonth - bMonth
}
