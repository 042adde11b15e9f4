import { z } from 'zod'
import { parseJson } from '#shared/parse-json.ts'

const Summary = z.object({ read_rows: z.coerce.number().catch(0), read_bytes: z.coerce.number().catch(0) })

/** Reads `X-ClickHouse-Summary`; of a streamed answer it says what had been read when the first byte left. */
export const readSummary = (
  headers: Record<string, string | string[] | undefined>,
): { rowsRead: number; bytesRead: number } => {
  const text = headers['x-clickhouse-summary']
  const summary = typeof text === 'string' ? Summary.safeParse(parseJson(text)) : undefined
  return { rowsRead: summary?.data?.read_rows ?? 0, bytesRead: summary?.data?.read_bytes ?? 0 }
}
