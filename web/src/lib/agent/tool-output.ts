import type { ResultColumn } from '#proto/console.ts'

/** The result of a tool call, split into the parts that are displayed separately. */
export interface ToolOutput {
  text: string | null
  /** The rows of the result; null if it is not a table. */
  table: { columns: ResultColumn[]; rows: unknown[][] } | null
  /** The result if it is not a table, displayed as JSON; undefined for a table. */
  rest: unknown
  isCut: boolean
  evidence: readonly string[]
}

export const readToolOutput = (output: unknown): ToolOutput => {
  if (!isRecord(output)) return { text: null, table: null, rest: output, isCut: false, evidence: [] }
  const { text, result, cut, evidence } = output
  const table = isRecord(result) ? toResultTable(result) : null
  return {
    text: typeof text === 'string' ? text : null,
    table,
    rest: table ? undefined : result,
    isCut: cut === true,
    evidence: Array.isArray(evidence) ? evidence.filter((id) => typeof id === 'string') : [],
  }
}

const toResultTable = ({ columns, rows }: Record<string, unknown>): ToolOutput['table'] => {
  if (!Array.isArray(columns) || !Array.isArray(rows) || columns.length === 0) return null
  if (!columns.every(isColumn) || !rows.every((row) => Array.isArray(row))) return null
  return { columns, rows }
}

const isColumn = (value: unknown): value is ResultColumn =>
  isRecord(value) && typeof value['name'] === 'string' && typeof value['type'] === 'string'

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** Returns the SQL statement among the arguments of a call, or null. */
export const readSqlArgument = (input: unknown): string | null =>
  isRecord(input) && typeof input['sql'] === 'string' ? input['sql'] : null

/** Formats the arguments of a call without its SQL statement as text; null if there are no other arguments. */
export const formatOtherArguments = (input: unknown): string | null => {
  if (!isRecord(input)) return input === undefined || input === '' ? null : String(input)
  const { sql: _sql, ...others } = input
  return Object.keys(others).length === 0 ? null : JSON.stringify(others, null, 2)
}
