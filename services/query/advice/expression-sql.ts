import type { ExplainNode } from '#proto/explain.ts'
import { quoteName } from '#shared/sql/quote.ts'
import { columnOf, functionOf, listOf } from './query-tree.ts'

/** Functions that people write as operators. */
const operators: Readonly<Record<string, string>> = {
  equals: '=',
  notEquals: '!=',
  less: '<',
  lessOrEquals: '<=',
  greater: '>',
  greaterOrEquals: '>=',
  and: 'AND',
  or: 'OR',
  in: 'IN',
  notIn: 'NOT IN',
  like: 'LIKE',
  notLike: 'NOT LIKE',
  ilike: 'ILIKE',
  plus: '+',
  minus: '-',
  multiply: '*',
  divide: '/',
}

/**
 * An expression of a query tree as SQL with bare names of columns; undefined for what only its statement can say, such as
 * a subquery or a lambda.
 */
export const expressionSql = (node: ExplainNode): string | undefined => {
  const column = columnOf(node)
  if (column) return columnSql(column.column)
  if (node.name === 'CONSTANT') return constantSql(node)
  const called = functionOf(node)
  if (!called) return undefined
  const values = all(called.arguments)
  const parameters = all(listOf(node, 'PARAMETERS'))
  if (!values || !parameters) return undefined
  const operator = operators[called.name]
  if (operator !== undefined && values.length > 1) return `(${values.join(` ${operator} `)})`
  return `${called.name}${parameters.length > 0 ? `(${parameters.join(', ')})` : ''}(${values.join(', ')})`
}

/** A column, or a part of one such as `payload.size`, which is named with a dot outside quotes. */
export const columnSql = (column: string): string => column.split('.').map(quoteName).join('.')

const all = (nodes: readonly ExplainNode[]): string[] | undefined => {
  const written = nodes.flatMap((node) => expressionSql(node) ?? [])
  return written.length === nodes.length ? written : undefined
}

/** What the host has computed already is told as the expression that it was computed from, whose type needs no words. */
const constantSql = (node: ExplainNode): string | undefined => {
  const source = node.children.find(({ name }) => name === 'EXPRESSION')?.children[0]
  if (source) return expressionSql(source)
  const [, value = '', type = ''] =
    /, constant_value: (.*), constant_value_type: (.*)$/s.exec(node.description ?? '') ?? []
  const [, opening, list] = /^(?:Tuple_(?=.*\)$)|Array_(?=.*\]$))([([])(.*).$/s.exec(value) ?? []
  if (list !== undefined) return listSql(list, opening === '[' ? '[]' : '()')
  return plainType.test(type) ? literalSql(value) : undefined
}

/** Values of other types, such as dates, are told as numbers that would mean something else. */
const plainType = /^(?:Nullable\()?(?:LowCardinality\()?(?:U?Int\d+|Float\d+|String|Nothing)\)*$/

const literal = /U?Int\d+_-?\d+|Float64_-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|'(?:[^'\\]|\\.)*'|NULL/gs

const literalSql = (text: string): string | undefined =>
  text.match(literal)?.[0] === text ? text.replace(/^(?:U?Int\d+|Float64)_/, '') : undefined

const listSql = (text: string, [opening, closing]: string): string | undefined => {
  const values = text.match(literal) ?? []
  if (values.length === 0 || values.join(', ') !== text) return undefined
  return opening + values.map((value) => value.replace(/^(?:U?Int\d+|Float64)_/, '')).join(', ') + closing
}
