import { z } from 'zod'
import type { Call } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import type { Host } from '#proto/host.ts'
import type { query } from '#proto/query.ts'

/** Whom a tool asks, and for whom. */
interface Asking {
  query: Client<typeof query>
  call: Call
}

/** A fixed statement of a tool, with its parameters. */
export interface Selected {
  sql: string
  parameters?: Record<string, string | number>
  maxRows: number
}

/** Rows of a statement by the names of their columns, each as `row` describes it. */
export const select = async <R extends z.ZodType>(
  { query: client, call }: Asking,
  { key: hostKey }: Pick<Host, 'key'>,
  { sql, parameters, maxRows }: Selected,
  row: R,
): Promise<z.output<R>[]> => {
  const input = { hostKey, query: sql, maxRows, purpose: 'tool', ...(parameters && { parameters }) }
  const { columns, rows } = await client.runQuery(input, call)
  const named = rows.map((values) => Object.fromEntries(columns.map((column, index) => [column.name, values[index]])))
  return z.array(row).parse(named)
}

/** A number of a row; 64-bit integers may come as text. */
export const count = z.coerce.number()
