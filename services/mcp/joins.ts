import { z } from 'zod'
import type { Host } from '#proto/host.ts'
import { quoteName } from '#shared/sql/quote.ts'
import { count, select } from '#shared/tools/select.ts'
import { type Asking } from './asking.ts'
import { whyNoQueryLog } from './why-untold.ts'

const mostJoined = 20

const Joined = z.object({ table: z.string(), queries: count })

/** Tables that statements of the last week joined with one, those of most statements first. */
export interface Joins {
  tables: z.infer<typeof Joined>[]
  /** Why the query log tells nothing; null when it does. */
  unavailable: string | null
}

// The log names tables as `database.table`, each part quoted where it must be.
const sql = `
SELECT joined AS table, count() AS queries
FROM (
  SELECT arrayJoin(arrayFilter(one -> one != {whole:String} AND NOT startsWith(one, '_'), tables)) AS joined
  FROM system.query_log
  WHERE type = 'QueryFinish' AND event_date >= today() - 7 AND has(tables, {whole:String})
    AND query_kind = 'Select' AND positionCaseInsensitive(query, 'join') > 0
)
GROUP BY joined
ORDER BY queries DESC, joined`

export const joinsOf = async (
  asking: Asking,
  host: Host,
  { database, table }: { database: string; table: string },
): Promise<Joins> => {
  const parameters = { whole: `${asLogged(database)}.${asLogged(table)}` }
  try {
    return { tables: await select(asking, host, { sql, parameters, maxRows: mostJoined }, Joined), unavailable: null }
  } catch (error) {
    // The definitions still tell the rest.
    return { tables: [], unavailable: whyNoQueryLog(error, host) }
  }
}

/** The query log quotes names only where it has to. */
const asLogged = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? name : quoteName(name))
