import type { Client } from '../../client/client.ts'
import type { HostEntry } from '../hosts.ts'

/** A query that is running on a host. */
export interface RunningQuery {
  hostId: number
  host: string
  queryId: string
  user: string
  kind: string
  query: string
  elapsedSeconds: number
  memoryBytes: number
  cpuSeconds: number
  readRows: number
  readBytes: number
  threads: number
  /** Percentage of the rows that the server expects to read; null if unknown. */
  progress: number | null
  isCancelled: boolean
}

/** Maximum number of queries of one host, because each takes time to draw. */
const maxQueries = 500

/** Returns the running queries of a host, longest first, without those of Watchhouse. */
export const loadRunningQueries = async (
  client: Client,
  { id: hostId, name: host }: HostEntry,
  signal?: AbortSignal,
): Promise<RunningQuery[]> => {
  const { data } = await client.call('GET /api/v1/tables/{name}', {
    path: { name: 'running-queries' },
    query: new URLSearchParams({ hostId: String(hostId), limit: String(maxQueries) }),
    ...(signal && { signal }),
  })
  return data.map((row) => toRunningQuery(row, { hostId, host }))
}

type Row = Readonly<Record<string, unknown>>

/** Converts a row of the table page. Numbers beyond the range of a number are text. */
export const toRunningQuery = (row: Row, place: { hostId: number; host: string }): RunningQuery => ({
  ...place,
  queryId: textOf(row.query_id),
  user: textOf(row.user),
  kind: textOf(row.kind),
  query: textOf(row.query),
  elapsedSeconds: numberOf(row.elapsed),
  memoryBytes: numberOf(row.memory),
  cpuSeconds: numberOf(row.cpu) / 1e6,
  readRows: numberOf(row.read_rows),
  readBytes: numberOf(row.read_bytes),
  threads: numberOf(row.threads),
  progress: row.progress == null ? null : numberOf(row.progress),
  isCancelled: row.cancelled === 1 || row.cancelled === true,
})

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const numberOf = (value: unknown): number => {
  const number = Number(value ?? 0)
  return Number.isFinite(number) ? number : 0
}
