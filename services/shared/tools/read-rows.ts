import { z } from 'zod'
import type { Host } from '#proto/host.ts'
import type { ToolContext } from './tool.ts'

/** The name of a fixed statement of `query`. */
interface Statement {
  tool: string
  statement: string
  parameters?: Record<string, string | number>
  maxRows: number
}

/** Runs a fixed statement and validates each row with `row`; cells are not validated anywhere else. */
export const readRows = async <R extends z.ZodType>(
  { query, call }: Pick<ToolContext, 'query' | 'call'>,
  { key: hostKey }: Pick<Host, 'key'>,
  statement: Statement,
  row: R,
): Promise<z.output<R>[]> => {
  const { rows } = await query.toolRows({ hostKey, ...statement }, call)
  const parsed = z.array(row).safeParse(rows)
  if (parsed.success) return parsed.data
  throw new Error(`the rows of ${statement.tool}/${statement.statement} do not fit`, { cause: parsed.error })
}

/** A number of a row; 64-bit integers may arrive as text. */
export const count = z.coerce.number()
