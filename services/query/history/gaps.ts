import { z } from 'zod'
import type { HistoryPart } from '#proto/history.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'

const Gap = z.object({ fromMs: z.number(), toMs: z.number() })
const maxGaps = 20
const sql = `SELECT toUnixTimestamp(time) * 1000 AS fromMs, toUnixTimestamp(until) * 1000 AS toMs
FROM {table:samples}
WHERE host = {host:String} AND metric = '' AND label = {label:String} AND time < toDateTime({to:UInt32}) AND until > toDateTime({from:UInt32})
ORDER BY time DESC LIMIT ${maxGaps}`

/** Returns the times that were never recorded from a log, because the host had deleted its rows before; newest first. */
export const readGaps = (
  { history }: Pick<QueryHandlerDeps, 'history'>,
  hostKey: string,
  log: string,
  { fromMs, toMs }: Pick<HistoryPart, 'fromMs' | 'toMs'>,
): Promise<z.output<typeof Gap>[]> =>
  history.select(sql, Gap, {
    host: hostKey,
    label: `gap/${log === 'query_log' ? 'queries' : 'metrics'}`,
    from: Math.floor(fromMs / 1_000),
    to: Math.ceil(toMs / 1_000),
  })
