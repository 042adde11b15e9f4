import type { z } from 'zod'
import type { Call } from '#proto/call.ts'
import type { Unavailable } from '#proto/unavailable.ts'
import { missingNeeds, unavailableBy } from '../availability.ts'
import type { DatabaseClient } from '../clickhouse/client.ts'
import { expandMacros, type Scope } from '../definitions/macros.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { readRecords } from './records.ts'

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
