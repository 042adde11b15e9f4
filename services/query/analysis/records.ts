import { z } from 'zod'
import type { QueryResult } from '../clickhouse/client.ts'
import { hostFailure } from '../clickhouse/failure.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'

/** A number of a host: 64-bit integers beyond what a number holds come as text, and lose their last digits here. */
export const figure = z.union([
  z.number(),
  z
    .string()
    .regex(/^-?\d+$/)
    .transform(Number),
])

/** A yes or no of a host, which has been a number on older ones. */
export const flag = z.union([z.boolean(), z.number()]).transform(Boolean)

/** The rows of an answer, each an object by column name and checked. */
export const readRecords = <S extends z.ZodType>(
  host: MonitoredHost,
  schema: S,
  answer: QueryResult,
): z.output<S>[] => {
  const named = answer.rows.map((row) =>
    Object.fromEntries(answer.columns.map(({ name }, index) => [name, row[index]])),
  )
  const records = z.array(schema).safeParse(named)
  if (!records.success) throw hostFailure(host, 'garbage', records.error)
  return records.data
}
