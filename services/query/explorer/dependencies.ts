import { RE2JS } from 're2js'
import type { TableDependency, DependencyKind } from '#proto/explorer.ts'
import { lex, type Token } from '../read-only/lexer.ts'
import { Rejection } from '../read-only/rejection.ts'

/** A table with the names of its dependents and dependencies. */
export interface DependencyNode {
  database: string
  table: string
  engine: string
  uuid: string
  dependents: readonly (readonly [string, string])[]
  needs: readonly (readonly [string, string])[]
}

/** The SQL definition of a table that reads other tables. */
export interface TableSql {
  database: string
  table: string
  engineFull: string
  asSelect: string
  create: string
}

type TableRef = Pick<DependencyNode, 'database' | 'table'>
type Edge = Omit<TableDependency, 'direction'>

/** Returns all dependencies among the tables of a host. */
export const findDependencies = (nodes: readonly DependencyNode[], texts: readonly TableSql[]): Edge[] => {
  const known = new Map(nodes.map((node) => [keyOf(node), node]))
  const ends = (place: TableRef): Edge['from'] => ({
    database: place.database,
    table: place.table,
    engine: known.get(keyOf(place))?.engine ?? null,
  })
  const edges = new Map<string, Edge>()
  const add = (kind: DependencyKind, from: TableRef, to: TableRef, cluster: string | null = null): void => {
    const key = `${keyOf(from)} ${keyOf(to)}`
    if (!edges.has(key)) edges.set(key, { kind, from: ends(from), to: ends(to), cluster })
  }
  for (const text of texts) {
    const node = known.get(keyOf(text))
    if (node) addFromDefinition(node, text, nodes, known, add)
  }
  for (const node of nodes) {
    for (const [database, table] of node.dependents)
      add(kindOf(known.get(keyOf({ database, table }))), node, { database, table })
    for (const [database, table] of node.needs) add(kindOf(node), { database, table }, node)
  }
  return [...edges.values()]
}

type Add = (kind: DependencyKind, from: TableRef, to: TableRef, cluster?: string) => void

/** Adds the dependencies that the definition of a table contains. */
const addFromDefinition = (
  node: DependencyNode,
  text: TableSql,
  nodes: readonly DependencyNode[],
  known: ReadonlyMap<string, DependencyNode>,
  add: Add,
): void => {
  const { engine } = node
  const [first, second, third] = parseEngineArguments(text.engineFull)
  if (engine === 'Distributed' && first && second && third) {
    add('distributed', { database: second.text || node.database, table: third.text }, node, first.text)
  }
  if (engine === 'Buffer' && first && second) {
    add('buffer', node, { database: first.text || node.database, table: second.text })
  }
  if (engine === 'Merge' && first && second) {
    for (const source of mergeSources(node, first, second, nodes)) add('merge', source, node)
  }
  if (!engine.endsWith('View')) return
  for (const source of findSources(text.asSelect)) {
    const place = placeOf(source, node)
    if (known.has(keyOf(place)) || (source.isCertain && source.database !== undefined)) add(kindOf(node), place, node)
  }
  const target = engine === 'MaterializedView' ? targetOf(node, text, known) : undefined
  if (target) add('materialized-view-target', node, target)
}

const placeOf = ({ database, table }: Omit<TableName, 'isCertain'>, { database: own }: TableRef): TableRef => ({
  database: database ?? own,
  table,
})

/** Returns the target table of a materialized view, else its inner table, whose name depends on the database engine. */
const targetOf = (
  node: DependencyNode,
  text: TableSql,
  known: ReadonlyMap<string, DependencyNode>,
): TableRef | undefined => {
  const target = findViewTarget(text.create)
  if (target) return placeOf(target, node)
  const inner = [`.inner_id.${node.uuid}`, `.inner.${node.table}`].map((table) => ({ database: node.database, table }))
  return inner.find((place) => known.has(keyOf(place)))
}

/** Returns the tables that a Merge table reads. Patterns use RE2, which runs in linear time. */
const mergeSources = (
  node: DependencyNode,
  database: EngineArgument,
  table: EngineArgument,
  nodes: readonly DependencyNode[],
): DependencyNode[] => {
  const inDatabase = database.isPattern ? patternOf(database.text) : (name: string) => name === database.text
  const isNamed = patternOf(table.text)
  return nodes.filter((each) => each !== node && inDatabase(each.database) && isNamed(each.table))
}

const patternOf = (pattern: string): ((name: string) => boolean) => {
  try {
    const compiled = RE2JS.compile(pattern)
    return (name) => compiled.matcher(name).find()
  } catch {
    return () => false
  }
}

const kindOf = (to: DependencyNode | undefined): DependencyKind => {
  if (to?.engine === 'MaterializedView') return 'materialized-view'
  if (to?.engine.endsWith('View')) return 'view'
  return to?.engine === 'Dictionary' ? 'dictionary' : 'reference'
}

const keyOf = ({ database, table }: TableRef): string => JSON.stringify([database, table])

/** A table reference in a stored statement. */
interface TableName {
  /** Undefined when the statement omits it. */
  database: string | undefined
  table: string
  /** Whether the name follows FROM or JOIN. After IN, or in `extract(DAY FROM d)`, the name may be a column. */
  isCertain: boolean
}

/** The state of one level of parentheses. */
interface ParenthesisLevel {
  selects: boolean
  /** Whether the position is between FROM and the next clause, where a comma starts another source. */
  inSources: boolean
}

const endsSources: ReadonlySet<string> = new Set(
  'SELECT WHERE PREWHERE GROUP ORDER HAVING LIMIT SETTINGS UNION INTERSECT EXCEPT WINDOW QUALIFY ARRAY'.split(' '),
)

/**
 * Returns the tables after FROM, JOIN and IN in a stored SELECT, except common table expressions. Returns none for SQL
 * that cannot be parsed.
 */
export const findSources = (select: string): TableName[] => {
  const tokens = tokensOf(select)
  const local = new Set(tokens.flatMap((token, index) => (definesName(tokens, index) ? [textOf(token)] : [])))
  const levels: ParenthesisLevel[] = [{ selects: false, inSources: false }]
  const sources: TableName[] = []
  tokens.forEach((token, index) => {
    const found = expectsSource(token, tokens[index - 1], levels) && nameAt(tokens, index + 1)
    if (!found || (found.database === undefined && local.has(found.table))) return
    sources.push({ ...found, isCertain: wordOf(token) !== 'IN' && levels.at(-1)?.selects === true })
  })
  return sources
}

/** Returns whether a table may follow the token, and updates the levels. */
const expectsSource = (token: Token, before: Token | undefined, levels: ParenthesisLevel[]): boolean => {
  const { kind, text } = token
  const word = wordOf(token)
  const level = levels.at(-1)
  if (!level) return false
  if (kind === 'sign') {
    if (text === '(') levels.push({ selects: false, inSources: false })
    if (text === ')' && levels.length > 1) levels.pop()
    return text === ',' && level.inSources
  }
  if (word === 'SELECT') level.selects = true
  if (endsSources.has(word)) level.inSources = false
  if (word === 'FROM') level.inSources = true
  return word === 'FROM' || word === 'IN' || (word === 'JOIN' && wordOf(before) !== 'ARRAY')
}

/** Matches `name AS (`, which starts a common table expression. */
const definesName = (tokens: readonly Token[], index: number): boolean =>
  isName(tokens[index]) && wordOf(tokens[index + 1]) === 'AS' && tokens[index + 2]?.text === '('

/** Returns the target of a materialized view, or undefined when it has an inner table. */
export const findViewTarget = (create: string): Omit<TableName, 'isCertain'> | undefined => {
  const tokens = tokensOf(create)
  const to = tokens.findIndex((token) => wordOf(token) === 'TO')
  const columns = tokens.findIndex(({ text }) => text === '(')
  const select = tokens.findIndex((token) => wordOf(token) === 'AS')
  const isBeforeAll = [columns, select].every((place) => place === -1 || to < place)
  return to !== -1 && isBeforeAll ? nameAt(tokens, to + 1) : undefined
}

/** An argument of a table engine. `isPattern` is true for an argument of `REGEXP()`. */
interface EngineArgument {
  text: string
  isPattern: boolean
}

/** Returns the leading arguments of an engine that are strings or names: `Merge(REGEXP('a'), 'b')`. */
export const parseEngineArguments = (engineFull: string): EngineArgument[] => {
  const [_engine, opening, ...tokens] = tokensOf(engineFull)
  const found: EngineArgument[] = []
  if (opening?.text !== '(') return found
  for (let index = 0; index < tokens.length; index++) {
    const isPattern = wordOf(tokens[index]) === 'REGEXP' && tokens[index + 1]?.text === '('
    const value = tokens[isPattern ? index + 2 : index]
    if (!value || value.kind === 'sign') break
    found.push({ text: textOf(value), isPattern })
    index += isPattern ? 4 : 1
    if (tokens[index]?.text !== ',') break
  }
  return found
}

/** Parses `database.table` or `table`, unless it is a function call. */
const nameAt = (tokens: readonly Token[], index: number): Omit<TableName, 'isCertain'> | undefined => {
  const [first, dot, second] = [tokens[index], tokens[index + 1], tokens[index + 2]]
  if (!isName(first)) return undefined
  if (dot?.text === '.' && isName(second)) return { database: textOf(first), table: textOf(second) }
  return dot?.text === '(' ? undefined : { database: undefined, table: textOf(first) }
}

const isName = (token: Token | undefined): token is Token => token?.kind === 'quoted' || token?.kind === 'name'

/** Returns an unquoted word in upper case, or an empty string. */
const wordOf = (token: Token | undefined): string => (token?.kind === 'name' ? token.text.toUpperCase() : '')

/** Returns the value of a quoted string or name. */
const textOf = ({ kind, text }: Token): string => (kind === 'name' ? text : text.replaceAll(/\\(.)/gs, '$1'))

const tokensOf = (sql: string): Token[] => {
  try {
    return lex(sql)
  } catch (error) {
    if (error instanceof Rejection) return []
    throw error
  }
}
