import { lex, type Token } from '../read-only/lexer.ts'
import { Rejection } from '../read-only/rejection.ts'

/** A table as a stored statement names it. */
export interface TableName {
  /** Undefined where the statement leaves it out. */
  database: string | undefined
  table: string
  /** Behind FROM or JOIN; behind IN and within arguments such as `extract(DAY FROM d)` it may be a column. */
  isCertain: boolean
}

/** One level of parentheses. */
interface Level {
  selects: boolean
  /** Between FROM and the next clause, where a comma begins another source. */
  inSources: boolean
}

const endsSources: ReadonlySet<string> = new Set(
  'SELECT WHERE PREWHERE GROUP ORDER HAVING LIMIT SETTINGS UNION INTERSECT EXCEPT WINDOW QUALIFY ARRAY'.split(' '),
)

/**
 * Tables that a stored SELECT reads: names behind FROM, JOIN and IN, those of common table expressions left out.
 * A text that cannot be read tells none.
 */
export const sourcesIn = (select: string): TableName[] => {
  const tokens = tokensOf(select)
  const local = new Set(tokens.flatMap((token, index) => (definesName(tokens, index) ? [textOf(token)] : [])))
  const levels: Level[] = [{ selects: false, inSources: false }]
  const sources: TableName[] = []
  tokens.forEach((token, index) => {
    const found = expectsSource(token, tokens[index - 1], levels) && nameAt(tokens, index + 1)
    if (!found || (found.database === undefined && local.has(found.table))) return
    sources.push({ ...found, isCertain: wordOf(token) !== 'IN' && levels.at(-1)?.selects === true })
  })
  return sources
}

/** Whether a source may follow; keeps track of the levels. */
const expectsSource = (token: Token, before: Token | undefined, levels: Level[]): boolean => {
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

/** `name AS (` begins a common table expression. */
const definesName = (tokens: readonly Token[], index: number): boolean =>
  isName(tokens[index]) && wordOf(tokens[index + 1]) === 'AS' && tokens[index + 2]?.text === '('

/** Where the materialized view that a CREATE statement describes puts its rows; undefined when it keeps them itself. */
export const targetIn = (create: string): Omit<TableName, 'isCertain'> | undefined => {
  const tokens = tokensOf(create)
  const to = tokens.findIndex((token) => wordOf(token) === 'TO')
  const columns = tokens.findIndex(({ text }) => text === '(')
  const select = tokens.findIndex((token) => wordOf(token) === 'AS')
  const isBeforeAll = [columns, select].every((place) => place === -1 || to < place)
  return to !== -1 && isBeforeAll ? nameAt(tokens, to + 1) : undefined
}

/** An argument of an engine; a pattern is one that stands within `REGEXP()`. */
export interface EngineArgument {
  text: string
  isPattern: boolean
}

/** The first arguments of an engine, up to one that is no text or name: `Merge(REGEXP('a'), 'b')`. */
export const engineArguments = (engineFull: string): EngineArgument[] => {
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

/** `database.table` or `table`, unless it is a call. */
const nameAt = (tokens: readonly Token[], index: number): Omit<TableName, 'isCertain'> | undefined => {
  const [first, dot, second] = [tokens[index], tokens[index + 1], tokens[index + 2]]
  if (!isName(first)) return undefined
  if (dot?.text === '.' && isName(second)) return { database: textOf(first), table: textOf(second) }
  return dot?.text === '(' ? undefined : { database: undefined, table: textOf(first) }
}

const isName = (token: Token | undefined): token is Token => token?.kind === 'quoted' || token?.kind === 'name'

/** A bare word in upper case; empty for all else. */
const wordOf = (token: Token | undefined): string => (token?.kind === 'name' ? token.text.toUpperCase() : '')

/** What a quoted text or name stands for, as ClickHouse writes it back. */
const textOf = ({ kind, text }: Token): string => (kind === 'name' ? text : text.replaceAll(/\\(.)/gs, '$1'))

const tokensOf = (sql: string): Token[] => {
  try {
    return lex(sql)
  } catch (error) {
    if (error instanceof Rejection) return []
    throw error
  }
}
