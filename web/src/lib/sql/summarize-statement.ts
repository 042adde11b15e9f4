/** Longer statements are shortened to their shape. */
const maxWhole = 72
/** Maximum number of characters of a statement that are read. */
const maxRead = 2_000
const maxSummary = 240
const maxDepth = 3

/** Maximum length of the text of a clause; longer texts are cut or replaced by `…`. */
const keptCharacters: Readonly<Record<string, number>> = {
  SELECT: 20,
  FROM: 80,
  JOIN: 80,
  PREWHERE: 80,
  WHERE: 80,
  HAVING: 40,
  'GROUP BY': 40,
  'ORDER BY': 40,
  LIMIT: 20,
  'UNION ALL': 0,
}
/** Clauses that do not distinguish statements. */
const omittedClauses = new Set(['ON', 'USING', 'SETTINGS', 'FORMAT', 'WINDOW', 'QUALIFY'])
/** Clauses whose beginning is kept if they are too long. Of others, only the name is kept. */
const cutClauses = new Set(['FROM', 'JOIN', 'PREWHERE', 'WHERE', 'HAVING', 'LIMIT'])

const token =
  /'(?:[^'\\]|\\.|'')*'?|"(?:[^"\\]|\\.)*"?|`(?:[^`\\]|\\.)*`?|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|[A-Za-z_]\w*|[()[\]]|\s+|[^\s]/g
const clauseNames =
  /^(?:WITH|SELECT|FROM|JOIN|ON|USING|PREWHERE|WHERE|GROUP|HAVING|WINDOW|QUALIFY|ORDER|LIMIT|UNION|VALUES|SETTINGS|FORMAT)$/i

interface Clause {
  /** The name in capital letters; empty for the text before the first clause, such as `INSERT INTO t`. */
  name: string
  text: string
}

/** Splits a statement into the clauses of its outermost query. Comments are removed. */
const splitClauses = (sql: string): Clause[] => {
  const clauses: Clause[] = [{ name: '', text: '' }]
  let depth = 0
  for (const [text] of sql.matchAll(token)) {
    const last = clauses.at(-1)
    if (!last || text.startsWith('--') || text.startsWith('/*')) continue
    if (text === '(' || text === '[') depth++
    if (text === ')' || text === ']') depth--
    if (depth === 0 && clauseNames.test(text)) clauses.push({ name: text.toUpperCase(), text: '' })
    else last.text += /^\s+$/.test(text) ? ' ' : text
  }
  return clauses.map(({ name, text }) => joinTwoWordName(name, text.trim()))
}

const joinTwoWordName = (name: string, text: string): Clause => {
  const [, second] =
    (name === 'GROUP' || name === 'ORDER' || name === 'UNION' ? /^(BY|ALL|DISTINCT)\b/i.exec(text) : null) ?? []
  return second === undefined
    ? { name, text }
    : { name: `${name} ${second.toUpperCase()}`, text: text.slice(second.length).trim() }
}

const cut = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length - 1)}…` : text)

const summarizeClause = ({ name, text }: Clause, depth: number): string => {
  if (omittedClauses.has(name)) return ''
  if (name === '') return text.replaceAll(/\([^()]{20,}\)/g, '(…)')
  if (name === 'WITH' || name === 'VALUES') return `${name} …`
  const isSource = name === 'FROM' || name === 'JOIN'
  if (isSource && text.startsWith('(') && depth < maxDepth) return `${name} ${summarizeSubquery(text, depth)}`
  const kept = keptCharacters[name] ?? 0
  if (text.length <= kept) return `${name} ${text}`.trim()
  return cutClauses.has(name) ? `${name} ${cut(text, kept)}` : `${name} …`
}

/** Shortens a subquery in parentheses and keeps the alias behind it. */
const summarizeSubquery = (text: string, depth: number): string => {
  const end = text.lastIndexOf(')')
  const inner = end < 0 ? text.slice(1) : text.slice(1, end)
  return `(${shorten(inner, depth + 1)})${end < 0 ? '' : cut(text.slice(end + 1), 24)}`
}

const shorten = (sql: string, depth: number): string =>
  splitClauses(sql)
    .map((clause) => summarizeClause(clause, depth))
    .filter(Boolean)
    .join(' ')

const toOneLine = (sql: string): string => sql.slice(0, maxRead).replaceAll(/\s+/g, ' ').trim()

/**
 * Returns a statement on one line, and a long one as its shape, such as `SELECT … FROM shop.orders WHERE id = 7`:
 * tables and conditions distinguish statements, lists of columns rarely do.
 */
export const summarizeStatement = (sql: string): string => {
  const line = toOneLine(sql)
  return line.length <= maxWhole ? line : cut(shorten(sql.slice(0, maxRead), 0), maxSummary)
}

/** Number of characters that a narrow column shows. Statements that are equal up to there look the same. */
const seenCharacters = 48
const shownDifference = 60

/**
 * Returns the summaries of the statements of a list by statement. If the visible parts of several are equal, they
 * consist of the first table and the first difference.
 */
export const summarizeStatements = (statements: Iterable<string>): ReadonlyMap<string, string> => {
  const summaries = new Map([...new Set(statements)].map((sql) => [sql, summarizeStatement(sql)]))
  const alike = Map.groupBy(summaries, ([, summary]) => summary.slice(0, seenCharacters))
  for (const group of alike.values()) {
    if (group.length === 1) continue
    const lines = group.map(([sql]) => toOneLine(sql))
    const start = findDifference(lines)
    const head = findHead(lines[0]?.slice(0, start) ?? '')
    for (const [index, [sql, summary]] of group.entries()) {
      const difference = cut(lines[index]?.slice(start) || '(end)', shownDifference)
      summaries.set(sql, head ? `${head} … ${difference}` : `…${difference} · ${summary}`)
    }
  }
  return summaries
}

/** Returns the kind and the first table of a statement, such as `SELECT shop.orders`; null if it names no table. */
const findHead = (beginning: string): string | null => {
  const [, table] = /\b(?:FROM|INTO|TABLE)\s+([\w.`"]+)\s/i.exec(beginning) ?? []
  const [kind] = /^\w+/.exec(beginning) ?? []
  return table && kind ? `${kind.toUpperCase()} ${table}` : null
}

/** Returns the start of the word in which texts first differ. */
const findDifference = (texts: readonly string[]): number => {
  const [first = '', ...others] = texts
  let index = 0
  while (index < first.length && others.every((other) => other[index] === first[index])) index++
  const before = first.slice(0, index)
  return before.length - (/[\w.']*$/.exec(before)?.[0].length ?? 0)
}
