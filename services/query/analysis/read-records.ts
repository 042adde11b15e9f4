import { z } from 'zod'
import type { QueryResult } from '../clickhouse/client.ts'
import { createHostError } from '../clickhouse/failure.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'

/** Schema for a number. 64-bit integers beyond the safe range are sent as strings and lose precision here. */
export const hostNumberSchema = z.union([
  z.number(),
  z
    .string()
    .regex(/^-?\d+$/)
    .transform(Number),
])

/** Schema for a boolean, which older servers send as a number. */
export const hostBooleanSchema = z.union([z.boolean(), z.number()]).transform(Boolean)

/** Returns the rows of a result as objects by column name. Throws `unavailable` when they do not match the schema. */
export const readRecords = <S extends z.ZodType>(
  host: MonitoredHost,
  schema: S,
  answer: QueryResult,
): z.output<S>[] => {
  const named = answer.rows.map((row) =>
    Object.fromEntries(answer.columns.map(({ name }, index) => [name, row[index]])),
  )
  const records = z.array(schema).safeParse(named)
  if (!records.success) throw createHostError(host, 'garbage', records.error)
  return records.data
}
