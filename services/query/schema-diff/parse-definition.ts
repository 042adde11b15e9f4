import { isPunctuation, lex, type Token } from '../read-only/lexer.ts'
import type { Column, ObjectDefinition } from './definition.ts'

/** A part of a statement: the tokens from `start` until before `end`. */
interface Source {
  sql: string
  tokens: readonly Token[]
}

/** The clauses after the columns, in the spelling of the server. */
const tableClauses = [
  ['ENGINE', '='],
  ['PARTITION', 'BY'],
  ['PRIMARY', 'KEY'],
  ['ORDER', 'BY'],
  ['SAMPLE', 'BY'],
  ['TTL'],
  ['SETTINGS'],
  ['COMMENT'],
  ['DEFINER', '='],
  ['SQL', 'SECURITY'],
  ['AS'],
  ['SOURCE', '('],
  ['LIFETIME', '('],
  ['LAYOUT', '('],
  ['RANGE', '('],
] as const
const columnClauses = [
  ['DEFAULT'],
  ['MATERIALIZED'],
  ['EPHEMERAL'],
  ['ALIAS'],
  ['COMMENT'],
  ['CODEC', '('],
  ['STATISTICS', '('],
  ['TTL'],
  ['SETTINGS', '('],
] as const
const defaultKinds = ['DEFAULT', 'MATERIALIZED', 'EPHEMERAL', 'ALIAS'] as const

const uuidPattern = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g

/** Clauses with a property of their own. */
const separateClauses = new Set(['ENGINE', 'SETTINGS', 'COMMENT', 'AS'])

/** Parses the create statement that a server returns for a table, view or dictionary. Undefined for any other text. */
export const parseDefinition = (statement: string): ObjectDefinition | undefined => {
  const sql = statement.replaceAll(uuidPattern, '{uuid}')
  const source = { sql, tokens: lex(sql) }
  const head = readHead(source)
  if (!head) return undefined
  const { kind, database, name, next } = head
  const { tokens } = source
  const opening = findColumns(tokens, next)
  const closing = opening === undefined ? next : skipGroup(tokens, opening)
  const elements = opening === undefined ? [] : splitAtCommas(tokens, opening + 1, closing - 1)
  const headEnd = opening ?? findClauses(source, next, tokens.length, tableClauses)[0]?.start ?? tokens.length
  const clauses = readClauses(source, opening === undefined ? headEnd : closing, tokens.length, tableClauses)
  const settings = readSettings(clauses.get('SETTINGS') ?? '')
  const isColumn = ([start]: readonly [number, number]): boolean =>
    tokens[start]?.kind === 'quoted' || kind === 'dictionary'
  return {
    kind,
    database,
    name,
    statement: sql,
    head: textOf(source, next, headEnd),
    columns: elements.filter(isColumn).map(([start, end]) => readColumn(source, start, end)),
    ...readNamedElements(
      source,
      elements.filter((element) => !isColumn(element)),
    ),
    engine: clauses.get('ENGINE') ?? '',
    clauses: new Map([...clauses].filter(([clause]) => !separateClauses.has(clause))),
    settings,
    comment: clauses.get('COMMENT') ?? '',
    query: clauses.get('AS') ?? '',
  }
}

const kinds = [
  { words: ['TABLE'], kind: 'table' },
  { words: ['VIEW'], kind: 'view' },
  { words: ['MATERIALIZED', 'VIEW'], kind: 'materialized-view' },
  { words: ['WINDOW', 'VIEW'], kind: 'view' },
  { words: ['DICTIONARY'], kind: 'dictionary' },
] as const

const readHead = ({ tokens }: Source) => {
  const found = kinds.find(({ words }) => words.every((word, index) => tokens[index + 1]?.text === word))
  if (tokens[0]?.text !== 'CREATE' || !found) return undefined
  const start = found.words.length + 1
  const [database, dot, name] = [tokens[start], tokens[start + 1], tokens[start + 2]]
  if (!database || !name || !isPunctuation(dot, '.')) return undefined
  return { kind: found.kind, database: unescape(database), name: unescape(name), next: start + 3 }
}

const unescape = ({ kind, text }: Token): string =>
  kind === 'quoted' ? text.replaceAll(/\\(.)|``/g, (_, escaped: string | undefined) => escaped ?? '`') : text

/** Returns the position of the list of columns; undefined if the statement has none before its first clause. */
const findColumns = (tokens: readonly Token[], start: number): number | undefined => {
  for (let index = start; index < tokens.length; index++) {
    const token = tokens[index]
    if (isPunctuation(token, '(')) return index
    if (tableClauses.some(([word]) => token?.kind === 'name' && token.text === word)) return undefined
  }
  return undefined
}

const isOpening = (token: Token | undefined): boolean => token?.kind === 'sign' && '([{'.includes(token.text)
const isClosing = (token: Token | undefined): boolean => token?.kind === 'sign' && ')]}'.includes(token.text)

/** Returns the position after the bracket that closes the group at `start`. */
const skipGroup = (tokens: readonly Token[], start: number): number => {
  let depth = 0
  for (let index = start; index < tokens.length; index++) {
    if (isOpening(tokens[index])) depth++
    if (isClosing(tokens[index])) depth--
    if (depth === 0) return index + 1
  }
  return tokens.length
}

const splitAtCommas = (tokens: readonly Token[], start: number, end: number): [start: number, end: number][] => {
  const parts: [number, number][] = []
  let from = start
  for (let index = start; index < end; index++) {
    if (isOpening(tokens[index])) index = skipGroup(tokens, index) - 1
    else if (isPunctuation(tokens[index], ',')) {
      parts.push([from, index])
      from = index + 1
    }
  }
  if (from < end) parts.push([from, end])
  return parts
}

/** Returns the text of tokens, unchanged from the statement. */
const textOf = ({ sql, tokens }: Source, start: number, end: number): string => {
  const [first, next] = [tokens[start], tokens[end]]
  return first && start < end ? sql.slice(first.position, next?.position).trim() : ''
}

interface Clause {
  name: string
  start: number
  bodyStart: number
}

type ClauseWords = readonly (readonly [string, string?])[]

/** Finds clauses outside of brackets. The query of a view contains no further ones. */
const findClauses = ({ tokens }: Source, start: number, end: number, words: ClauseWords): Clause[] => {
  const found: Clause[] = []
  for (let index = start; index < end; index++) {
    const token = tokens[index]
    if (isOpening(token)) {
      index = skipGroup(tokens, index) - 1
      continue
    }
    const clause = words.find(
      ([word, second]) =>
        token?.kind === 'name' && token.text === word && (second === undefined || tokens[index + 1]?.text === second),
    )
    if (!clause) continue
    const [name, second] = clause
    // The bracket is a part of the clause.
    const bodyStart = index + (second === undefined || second === '(' ? 1 : 2)
    found.push({
      name: second === 'BY' || second === 'KEY' || second === 'SECURITY' ? `${name} ${second}` : name,
      start: index,
      bodyStart,
    })
    if (name === 'AS') break
  }
  return found
}

const readClauses = (source: Source, start: number, end: number, words: ClauseWords): Map<string, string> => {
  const found = findClauses(source, start, end, words)
  return new Map(
    found.map(({ name, bodyStart }, index) => [name, textOf(source, bodyStart, found[index + 1]?.start ?? end)]),
  )
}

const readColumn = (source: Source, start: number, end: number): Column => {
  const { tokens } = source
  const name = tokens[start]
  const typeEnd = findClauses(source, start + 1, end, columnClauses)[0]?.start ?? end
  const clauses = readClauses(source, start + 1, end, columnClauses)
  const defaultKind = defaultKinds.find((kind) => clauses.has(kind)) ?? ''
  return {
    name: name ? unescape(name) : '',
    type: textOf(source, start + 1, typeEnd),
    defaultKind,
    defaultExpression: readDefault(defaultKind, clauses.get(defaultKind) ?? ''),
    comment: clauses.get('COMMENT') ?? '',
    codec: clauses.get('CODEC') ?? '',
    statistics: clauses.get('STATISTICS') ?? '',
    ttl: clauses.get('TTL') ?? '',
    settings: clauses.get('SETTINGS') ?? '',
  }
}

/** The function that some servers write as the expression of a column that is `EPHEMERAL` without one. */
export const ephemeralDefault = 'defaultValueOfTypeName'
const readDefault = (kind: string, expression: string): string =>
  kind === 'EPHEMERAL' && expression.startsWith(`${ephemeralDefault}(`) ? '' : expression

/** Reads the elements of a list of columns that begin with a keyword and a name. */
const readNamedElements = (source: Source, elements: readonly (readonly [number, number])[]) => {
  const read = (keyword: string): Map<string, string> =>
    new Map(
      elements.flatMap(([start, end]) => {
        const [first, name] = [source.tokens[start], source.tokens[start + 1]]
        return first?.text === keyword && name ? [[unescape(name), textOf(source, start + 2, end)]] : []
      }),
    )
  return { indexes: read('INDEX'), projections: read('PROJECTION'), constraints: read('CONSTRAINT') }
}

const readSettings = (text: string): Map<string, string> => {
  const source = { sql: text, tokens: lex(text) }
  return new Map(
    splitAtCommas(source.tokens, 0, source.tokens.length).map(([start, end]) => [
      source.tokens[start]?.text ?? '',
      textOf(source, start + 2, end),
    ]),
  )
}

/** Returns SQL text with uniform whitespace and quoting, so that equal definitions of different servers are equal. */
export const normalizeSql = (text: string): string =>
  lex(text)
    .map(({ kind, text: token }) => (kind === 'literal' ? `'${token}'` : token))
    .join(' ')

const replicatedArguments = 2

/** Returns the engine without the path and the name of a replica, which differ by nature. */
export const normalizeEngine = (engine: string): string => {
  const tokens = lex(engine)
  if (!tokens[0]?.text.startsWith('Replicated')) return normalizeSql(engine)
  const values = splitAtCommas(tokens, 2, tokens.length - 1)
  const isPath = values.length >= replicatedArguments && tokens[values[0]?.[0] ?? 0]?.kind === 'literal'
  const rest = (isPath ? values.slice(replicatedArguments) : values).map(([start, end]) =>
    tokens.slice(start, end).map(({ text }) => text),
  )
  return [tokens[0].text, ...rest.flat()].join(' ')
}

/** Returns the names that a statement contains outside of literals. */
export const findNames = (text: string): ReadonlySet<string> =>
  new Set(lex(text).flatMap((token) => (token.kind === 'name' || token.kind === 'quoted' ? unescape(token) : [])))

/** Returns the elements of a key such as `(a, b)` or `a`, with uniform whitespace. */
export const splitKey = (key: string): string[] => {
  const tokens = lex(key)
  const isGroup = isPunctuation(tokens[0], '(') && skipGroup(tokens, 0) === tokens.length
  const parts = isGroup ? splitAtCommas(tokens, 1, tokens.length - 1) : splitAtCommas(tokens, 0, tokens.length)
  return parts.map(([start, end]) => normalizeSql(textOf({ sql: key, tokens }, start, end)))
}

/** Returns a query with its clauses on lines of their own. */
export const splitQuery = (query: string): string[] => {
  const tokens = lex(query)
  let depth = 0
  const starts = tokens.flatMap((token, index) => {
    if (isOpening(token)) depth++
    if (isClosing(token)) depth--
    return index > 0 && depth === 0 && isQueryClause(token) ? token.position : []
  })
  return [0, ...starts].map((start, index) => query.slice(start, starts[index]).trim())
}

const queryClauses = new Set([
  'SELECT',
  'FROM',
  'PREWHERE',
  'WHERE',
  'GROUP',
  'HAVING',
  'ORDER',
  'LIMIT',
  'UNION',
  'SETTINGS',
])
const isQueryClause = ({ kind, text }: Token): boolean => kind === 'name' && queryClauses.has(text)
