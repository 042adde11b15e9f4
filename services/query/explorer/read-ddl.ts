import { z } from 'zod'
import type { Unavailable } from '#proto/unavailable.ts'
import { quoteName } from '#shared/quote.ts'
import { readRecords } from '../analysis/records.ts'
import { unavailableBy } from '../availability.ts'
import type { Asking } from './read-view.ts'
import { noneOf } from './why-empty.ts'

const Row = z.object({ statement: z.string() })

/** The statement that creates a table or a database, laid out by the host. */
export const readDdl = async (
  asking: Asking,
  named: { database: string; table?: string | undefined },
): Promise<{ detail: { ddl: string } | null; unavailable: Unavailable | null }> => {
  const { parts, host, call } = asking
  const { database, table } = named
  const what =
    table === undefined ? `DATABASE ${quoteName(database)}` : `TABLE ${quoteName(database)}.${quoteName(table)}`
  const statement = { what: 'explorer/ddl', cache: 'realtime' as const, sql: `SHOW CREATE ${what}` }
  try {
    const [row] = readRecords(host, Row, await parts.client.run(host, statement, call))
    return { detail: row ? { ddl: row.statement } : null, unavailable: null }
  } catch (error) {
    const unavailable = unavailableBy(parts.client, host, { requires: [] }, error)
    if (unavailable) return { detail: null, unavailable }
    throw (await noneOf(asking, named, error)) ?? error
  }
}
