import type { ReadCondition } from '#proto/advising.ts'
import type { ExplainNode } from '#proto/explain.ts'
import { expressionSql } from './expression-sql.ts'
import { columnOf, functionOf, within } from './query-tree.ts'

/** Longer ones, such as lists of thousands of values, are not tried out. */
const longestCondition = 4_000

const kinds: Readonly<Record<string, ReadCondition['kind']>> = {
  equals: 'equality',
  in: 'equality',
  has: 'equality',
  less: 'range',
  lessOrEquals: 'range',
  greater: 'range',
  greaterOrEquals: 'range',
  like: 'text',
  startsWith: 'text',
  hasToken: 'text',
}

/** The condition that a node is, when it is about one table alone and can be said in SQL. */
export const conditionOn = (tableId: string, node: ExplainNode): ReadCondition | undefined => {
  const columns = within([node], () => true).flatMap((each) => columnOf(each) ?? [])
  if (columns.length === 0 || columns.some(({ source }) => source !== tableId)) return undefined
  const sql = expressionSql(node)
  if (sql === undefined || sql.length > longestCondition) return undefined
  const called = functionOf(node)
  const [compared, ...more] = called?.arguments.flatMap((each) => columnOf(each) ?? []) ?? []
  const others = called?.arguments.filter(({ name }) => name !== 'COLUMN') ?? []
  const isDirect = more.length === 0 && others.every(({ name }) => name === 'CONSTANT')
  const column = isDirect ? (compared?.column ?? null) : null
  const kind = (column !== null && kinds[called?.name ?? '']) || 'other'
  return { kind, column, columns: [...new Set(columns.map((each) => each.column))], sql }
}
