import type { z } from 'zod'
import type { RepldbPeers } from '#proto/http/repldb.ts'

/** A peer, which is a source or destination database of mirrors. */
export interface ListedPeer {
  name: string
  /** Display name of the database type. */
  type: string
  role: 'source' | 'destination' | 'source and destination' | 'unused'
  /** Whether the peer can have replication slots. */
  hasSlots: boolean
}

const roles = { both: 'source and destination', source: 'source', destination: 'destination', none: 'unused' } as const

const names: Readonly<Record<string, string>> = {
  POSTGRES: 'PostgreSQL',
  CLICKHOUSE: 'ClickHouse',
  MYSQL: 'MySQL',
  MONGO: 'MongoDB',
  BIGQUERY: 'BigQuery',
}

/** Returns the peers, sources first. */
export const listPeers = ({ items, sourceItems, destinationItems }: z.infer<typeof RepldbPeers>): ListedPeer[] => {
  const types = new Map([...sourceItems, ...items, ...destinationItems].map(({ name, type }) => [name, type]))
  const sources = new Set(sourceItems.map(({ name }) => name))
  const destinations = new Set(destinationItems.map(({ name }) => name))
  const roleOf = (name: string): ListedPeer['role'] => {
    if (sources.has(name)) return destinations.has(name) ? roles.both : roles.source
    return destinations.has(name) ? roles.destination : roles.none
  }
  return [...types].map(([name, type]) => ({
    name,
    type: names[type] ?? type,
    role: roleOf(name),
    hasSlots: type === 'POSTGRES' && !(destinations.has(name) && !sources.has(name)),
  }))
}
