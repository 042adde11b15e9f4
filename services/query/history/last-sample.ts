import { z } from 'zod'
import type { QueryHandlerDeps } from '../handler-deps.ts'

const LastSample = z.object({ until: z.number().nullable() })

/** Returns the end of the recorded samples of a host in epoch milliseconds of its clock; null without samples. */
export const readLastSampleMs = async (
  { history }: Pick<QueryHandlerDeps, 'history'>,
  hostKey: string,
): Promise<number | null> => {
  const sql = `SELECT toUnixTimestamp(max(until)) AS until FROM {table:samples} WHERE host = {host:String} AND metric = '' AND label = 'metrics'`
  const [row] = await history.select(sql, LastSample, { host: hostKey })
  return row?.until ? row.until * 1_000 : null
}
