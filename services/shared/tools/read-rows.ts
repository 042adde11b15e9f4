import { z } from 'zod'
import type { Host } from '#proto/host.ts'
import type { ToolContext } from './tool.ts'

/** A fixed statement of `query` with its parameters and the maximum number of rows. */
interface ToolStatement {
  tool: string
  statement: string
  parameters?: Record<string, string | number>
  maxRows: number
}

/** Runs a fixed statement and parses its rows with the schema `row`. */
export const readRows = async <R extends z.ZodType>(
  { query, call }: Pick<ToolContext, 'query' | 'call'>,
  { key: hostKey }: Pick<Host, 'key'>,
  statement: ToolStatement,
  row: R,
): Promise<z.output<R>[]> => {
  const { rows } = await query.toolRows({ hostKey, ...statement }, call)
  const parsed = z.array(row).safeParse(rows)
  if (parsed.success) return parsed.data
  throw new Error(`the rows of "${statement.tool}/${statement.statement}" do not match their schema`, {
    cause: parsed.error,
  })
}

/** Schema for a number in a row; 64-bit integers may arrive as text. */
export const numericCellSchema = z.coerce.number()

/** Schema for a whole number, which models read as an integer. It accepts integers beyond the safe range. */
export const integerSchema = z.number().meta({ type: 'integer' })

/** Schema for a whole number in a row. */
export const integerCellSchema = z.coerce.number().meta({ type: 'integer' })
