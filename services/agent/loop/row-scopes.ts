import type { Figure } from './figures.ts'
import type { ResultTable } from './result-cells.ts'

/** A table with the rows that a claim is about. */
export interface TableScope {
  table: ResultTable
  /** The rows with a text that also occurs in the claim; all rows if there are none. */
  rows: ResultTable['rows']
  isNamed: boolean
  /** The column whose texts name the rows, and those of its texts that occur in the claim, in their order there. */
  index: number
  names: readonly string[]
}

/** Selects the rows that a claim names. Among several matching columns, the one with the most distinct values is used. */
export const selectRows = (table: ResultTable, claim: string): TableScope => {
  const candidates = table.columns.flatMap((_column, index) => {
    const texts = new Set(table.rows.flatMap((row) => row[index]?.text ?? []))
    const named = [...texts].filter((text) => findName(claim, text) !== -1)
    return named.length > 0 ? [{ index, named, texts: texts.size }] : []
  })
  const [best] = candidates.toSorted((one, other) => other.texts - one.texts)
  if (best === undefined) return { table, rows: table.rows, isNamed: false, index: -1, names: [] }
  const names = best.named.toSorted((one, other) => findName(claim, one) - findName(claim, other))
  const rows = filterRows(table, best.index, names)
  return { table, rows, isNamed: rows.length < table.rows.length, index: best.index, names }
}

/**
 * Narrows the rows that a claim names to those that one figure is about. These are named between the previous figure
 * and this one, or after it in its clause; otherwise they are those of the previous figure.
 */
export const selectRowsOfFigure = (scope: TableScope, figure: Figure, figures: readonly Figure[]): TableScope => {
  if (scope.names.length < 2) return scope
  let names: readonly string[] = []
  for (const each of figures) {
    const before = scope.names.filter((name) => findName(each.lead, name) !== -1)
    const continues = before.length === 0 || comparison.test(each.lead)
    names = [...before, ...(continues ? names : [])]
    if (each === figure) break
  }
  const after = scope.names.filter((name) => findName(figure.tail, name) !== -1)
  // In `5 (orders), 3 (lines)`, each name belongs to the figure before it.
  const isParenthesized = after.length > 0 && figure.tail.startsWith('(')
  const all = new Set(isParenthesized ? after : [...names, ...after])
  if (all.size === 0) return scope
  const rows = filterRows(scope.table, scope.index, [...all])
  return { ...scope, rows, isNamed: rows.length < scope.table.rows.length }
}

/** Words after which a figure may also belong to a row that an earlier part of the claim names. */
const comparison = /\b(?:than|as|to|from|instead|against|respectively|versus|vs)\b/i

const filterRows = ({ rows }: ResultTable, index: number, names: readonly string[]): ResultTable['rows'] =>
  rows.filter((row) => names.includes(row[index]?.text ?? ''))

/** The start of an interval, which texts usually name without its date. */
const dateAndTime = /^\d{4}-\d\d-\d\d[ T](\d\d:\d\d)(?::00(?:\.0+)?)?$/
const minNameLength = 2
const maxNameLength = 256

/** Returns the position of a name as a whole word in a text; -1 if it does not occur. */
export const findName = (text: string, name: string): number => {
  if (name.length < minNameLength || name.length > maxNameLength) return -1
  const time = dateAndTime.exec(name)?.[1]
  if (time !== undefined && !text.includes(name)) return findName(text, time)
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    const around = `${text.charAt(at - 1)} ${text.charAt(at + name.length)}`
    if (!/[\p{L}\p{N}_]/u.test(around)) return at
  }
  return -1
}
