import type { z } from 'zod'
import type { Call } from '#proto/call.ts'
import type { Unavailable } from '#proto/unavailable.ts'
import { readRecords } from '../analysis/records.ts'
import { missingNeeds, unavailableBy } from '../availability.ts'
import type { ParameterValue } from '../clickhouse/statement.ts'
import { expandMacros, type Scope } from '../definitions/macros.ts'
import type { Parts } from '../handlers/parts.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { type Named, whyEmpty } from './why-empty.ts'
import type { View } from './views.ts'

/** What a view is asked about. */
export interface Asking {
  parts: Parts
  host: MonitoredHost
  call: Call
}

/** Rows of a view, or why the host cannot tell them. */
export interface Viewed<R> {
  rows: R[]
  truncated: boolean
  unavailable: Unavailable | null
}

const noScope = { window: undefined, zone: undefined, logs: new Map() }

/** Reads a view in one statement; only when nothing came does it ask whether what was named is there at all. */
export const readView = async <S extends z.ZodType>(
  { parts, host, call }: Asking,
  view: View<S>,
  named: Named,
  parameters: Readonly<Record<string, ParameterValue>> = {},
  scope: Scope = noScope,
): Promise<Viewed<z.output<S>>> => {
  const { client } = parts
  const unavailable = await missingNeeds(client, host, view, call)
  if (unavailable) return { rows: [], truncated: false, unavailable }
  try {
    const statement = {
      what: `explorer/${view.what}`,
      cache: 'realtime' as const,
      sql: expandMacros(`${view.sql}\nLIMIT ${view.limit + 1}`, scope),
      parameters: { ...named, ...parameters },
    }
    const rows = readRecords(host, view.row, await client.run(host, statement, call))
    const missing = rows.length === 0 ? await whyEmpty({ parts, host, call }, named) : null
    return { rows: rows.slice(0, view.limit), truncated: rows.length > view.limit, unavailable: missing }
  } catch (error) {
    const closed = unavailableBy(client, host, view, error)
    if (closed) return { rows: [], truncated: false, unavailable: closed }
    throw error
  }
}
