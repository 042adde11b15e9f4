import type { ExplainNode } from '#proto/explain.ts'
import { quoteName } from '#shared/sql/statement-text.ts'

/** Operators by function name, for functions that SQL also writes as operators. */
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
 * Converts a query tree expression to SQL with unqualified column names. Returns undefined for expressions that depend
 * on their statement, such as a subquery or a lambda.
 */
export const toExpressionSql = (node: ExplainNode): string | undefined => {
  const column = parseColumnNode(node)
  if (column) return toColumnSql(column.column)
  if (node.name === 'CONSTANT') return constantSql(node)
  const called = parseFunctionNode(node)
  if (!called) return undefined
  const values = all(called.arguments)
  const parameters = all(listOf(node, 'PARAMETERS'))
  if (!values || !parameters) return undefined
  const operator = operators[called.name]
  if (operator !== undefined && values.length > 1) return `(${values.join(` ${operator} `)})`
  return `${called.name}${parameters.length > 0 ? `(${parameters.join(', ')})` : ''}(${values.join(', ')})`
}

/** Quotes a column or a subcolumn such as `payload.size`, whose dot stays outside the quotes. */
export const toColumnSql = (column: string): string => column.split('.').map(quoteName).join('.')

const all = (nodes: readonly ExplainNode[]): string[] | undefined => {
  const written = nodes.flatMap((node) => toExpressionSql(node) ?? [])
  return written.length === nodes.length ? written : undefined
}

/** Converts a constant to SQL. A folded constant becomes its source expression, which needs no explicit type. */
const constantSql = (node: ExplainNode): string | undefined => {
  const source = node.children.find(({ name }) => name === 'EXPRESSION')?.children[0]
  if (source) return toExpressionSql(source)
  const [, value = '', type = ''] =
    /, constant_value: (.*), constant_value_type: (.*)$/s.exec(node.description ?? '') ?? []
  const [, opening, list] = /^(?:Tuple_(?=.*\)$)|Array_(?=.*\]$))([([])(.*).$/s.exec(value) ?? []
  if (list !== undefined) return listSql(list, opening === '[' ? '[]' : '()')
  return plainType.test(type) ? literalSql(value) : undefined
}

/** Types whose constants can be converted. Others, such as dates, appear in the query tree as plain numbers. */
const plainType = /^(?:Nullable\()?(?:LowCardinality\()?(?:U?Int\d+|Float\d+|String|Nothing)\)*$/

const literal = /U?Int\d+_-?\d+|Float64_-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|'(?:[^'\\]|\\.)*'|NULL/gs

const literalSql = (text: string): string | undefined =>
  text.match(literal)?.[0] === text ? text.replace(/^(?:U?Int\d+|Float64)_/, '') : undefined

const listSql = (text: string, [opening, closing]: string): string | undefined => {
  const values = text.match(literal) ?? []
  if (values.length === 0 || values.join(', ') !== text) return undefined
  return opening + values.map((value) => value.replace(/^(?:U?Int\d+|Float64)_/, '')).join(', ') + closing
}

/** A table in a statement. Columns refer to it by `id`. */
export interface TableNode {
  id: string
  /** `database.table`, without quotes. */
  name: string
  isFinal: boolean
}

/** A SELECT in a statement, with its tables and clauses. */
export interface SelectNode {
  tables: TableNode[]
  /** The SELECT reads exactly one table. */
  isPlain: boolean
  where: ExplainNode[]
  clause(name: string): ExplainNode[]
  node: ExplainNode
}

/** Returns all SELECTs of a query tree, outermost first. */
export const collectSelects = (roots: readonly ExplainNode[]): SelectNode[] =>
  walkNodes(roots, () => true)
    .filter(({ name }) => name === 'QUERY')
    .map((node) => {
      const clause = (name: string) => node.children.find((child) => child.name === name)?.children ?? []
      const joined = clause('JOIN TREE')
      const tables = walkNodes(joined, ({ name }) => !isQuery(name)).flatMap((each) => tableOf(each) ?? [])
      return {
        tables,
        isPlain: joined.length === 1 && joined[0]?.name === 'TABLE',
        where: [...clause('PREWHERE'), ...clause('WHERE')].flatMap(conjuncts),
        clause,
        node,
      }
    })

/** Returns the nodes of a tree, parents first. A node that `enter` rejects is skipped with its subtree. */
export const walkNodes = (nodes: readonly ExplainNode[], enter: (node: ExplainNode) => boolean): ExplainNode[] =>
  nodes.filter(enter).flatMap((node) => [node, ...walkNodes(node.children, enter)])

/** Returns the column name and the table id of a column node; undefined for other nodes. */
export const parseColumnNode = ({ name, description }: ExplainNode): { column: string; source: string } | undefined => {
  if (name !== 'COLUMN') return undefined
  const [, column, source] = /, column_name: (.*), result_type: .*, source_id: (\d+)$/s.exec(description ?? '') ?? []
  return column === undefined || source === undefined ? undefined : { column, source }
}

/** Returns the name, kind and arguments of a function node; undefined for other nodes. */
export const parseFunctionNode = (
  node: ExplainNode,
): { name: string; kind: string; arguments: ExplainNode[] } | undefined => {
  const found = /^id: \d+(?:, alias: .*?)?, function_name: (\w+), function_type: (\w+)/s.exec(node.description ?? '')
  const [, name, kind] = found ?? []
  if (node.name !== 'FUNCTION' || name === undefined || kind === undefined) return undefined
  return { name, kind, arguments: listOf(node, 'ARGUMENTS') }
}

/** Returns the items of a named list below a node, such as `ARGUMENTS`; empty if there is no such list. */
const listOf = (node: ExplainNode, name: string): ExplainNode[] =>
  node.children.find((child) => child.name === name)?.children[0]?.children ?? []

const isQuery = (name: string): boolean => name === 'QUERY' || name === 'UNION'

const tableOf = ({ name, description }: ExplainNode): TableNode | undefined => {
  const found = /^id: (\d+)(?:, alias: .*?)?, table_name: (.*?)(, final: \w+)?(?:, (?:sample|offset)_.*)?$/s.exec(
    description ?? '',
  )
  const [, id, table, final] = found ?? []
  if (name !== 'TABLE' || id === undefined || table === undefined) return undefined
  return { id, name: table, isFinal: final !== undefined }
}

const conjuncts = (node: ExplainNode): ExplainNode[] => {
  const called = parseFunctionNode(node)
  return called?.name === 'and' ? called.arguments.flatMap(conjuncts) : [node]
}

/** ClickHouse settings that limit each statement of the advisor. */
export const adviceLimits = {
  max_memory_usage: 1_073_741_824,
  max_bytes_to_read: 17_179_869_184,
  max_rows_to_group_by: 1_000_000,
  read_overflow_mode: 'throw',
  group_by_overflow_mode: 'throw',
}
export const maxAdviceSeconds = 10
