import type { ResultColumn } from '#proto/console.ts'

/** What a tool answered, in so far as it can be shown as more than text. */
export interface ToolOutput {
  text: string | null
  /** Rows, where the result has some. */
  table: { columns: ResultColumn[]; rows: unknown[][] } | null
  /** What else there is of the result. */
  rest: unknown
  isCut: boolean
  evidence: readonly string[]
}

export const readOutput = (output: unknown): ToolOutput => {
  if (!isRecord(output)) return { text: null, table: null, rest: output, isCut: false, evidence: [] }
  const { text, result, cut, evidence } = output
  const table = isRecord(result) ? tableOf(result) : null
  return {
    text: typeof text === 'string' ? text : null,
    table,
    rest: table ? undefined : result,
    isCut: cut === true,
    evidence: Array.isArray(evidence) ? evidence.filter((id) => typeof id === 'string') : [],
  }
}

const tableOf = ({ columns, rows }: Record<string, unknown>): ToolOutput['table'] => {
  if (!Array.isArray(columns) || !Array.isArray(rows) || columns.length === 0) return null
  if (!columns.every(isColumn) || !rows.every((row) => Array.isArray(row))) return null
  return { columns, rows }
}

const isColumn = (given: unknown): given is ResultColumn =>
  isRecord(given) && typeof given['name'] === 'string' && typeof given['type'] === 'string'

const isRecord = (given: unknown): given is Record<string, unknown> => typeof given === 'object' && given !== null

/** The statement that a call brings along. */
export const statementOf = (input: unknown): string | null =>
  isRecord(input) && typeof input['sql'] === 'string' ? input['sql'] : null

/** What a call brings along besides, as JSON; null where that is nothing. */
export const argumentsOf = (input: unknown): string | null => {
  if (!isRecord(input)) return input === undefined || input === '' ? null : String(input)
  const { sql: _sql, ...others } = input
  return Object.keys(others).length === 0 ? null : JSON.stringify(others, null, 2)
}
