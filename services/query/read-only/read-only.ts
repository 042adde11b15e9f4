import { checkClusters } from './clusters.ts'
import { keywordsAfterColumn, leadingKeywords, checkedKeywords, type Keyword, writeKeywords } from './keywords.ts'
import { isPunctuation, lex, type Token } from './lexer.ts'
import { isOperandEnd, higherOrderFunctions, isForbiddenFunction, isUsedAsName, isQualified } from './names.ts'
import { Rejection } from './rejection.ts'
import { checkSources } from './sources.ts'

/** Permissions that the operator grants beyond the default rules of the read-only check. */
export interface StatementPermissions {
  /** Allows reading any table through a cluster, not only `system` tables. */
  clusterTables?: boolean
}

/** Maximum length of a statement, in characters. */
const maxStatementLength = 100_000

/**
 * Throws a `Rejection` unless the text is one statement that only reads from this host.
 * This is a second line of defense: the client also sets `readonly=1` and limits, which the host enforces.
 */
export const checkReadOnly = (sql: string, { clusterTables = false }: StatementPermissions = {}): void => {
  if (sql.length > maxStatementLength) {
    throw new Rejection('too-long', maxStatementLength, `the statement is longer than ${maxStatementLength} characters`)
  }
  const tokens = withFirstColumns(oneStatement(lex(sql)))
  checkFirstWord(tokens)
  tokens.forEach((token, index) => checkToken(token, index, tokens))
  checkExplained(tokens)
  const sources = checkSources(tokens)
  if (sources.readsCluster && !clusterTables) checkClusters(tokens, sources)
}

const oneStatement = (tokens: readonly Token[]): readonly Token[] => {
  const last = tokens.findLastIndex((token) => !isPunctuation(token, ';'))
  const statement = last === tokens.length - 1 ? tokens : tokens.slice(0, last + 1)
  for (const token of statement) {
    if (isPunctuation(token, ';'))
      throw new Rejection('several-statements', token.position, 'send one statement at a time')
  }
  if (statement.length === 0) throw new Rejection('empty', 0, 'the statement is empty')
  return statement
}

const checkFirstWord = ([first]: readonly Token[]): void => {
  if (first && leadingKeywords.has(first.word)) return
  throw new Rejection(
    'first-word',
    first?.position ?? 0,
    `the statement must begin with ${[...leadingKeywords].join(', ')}`,
  )
}

const checkToken = (token: Token, index: number, tokens: readonly Token[]): void => {
  if (isPunctuation(token, '(')) checkCall(index, tokens)
  else if (checkedKeywords.has(token.word) && !isQualified(index, tokens)) checkWord(token, index, tokens)
}

const checkWord = (token: Token, index: number, tokens: readonly Token[]): void => {
  const { word } = token
  const next = tokens[index + 1]
  if (writeKeywords.has(word) && !isUsedAsName(index, tokens) && !isColumn(word, next) && !isOperand(index, tokens)) {
    throw new Rejection(
      'write',
      token.position,
      `${word} changes data or the server; only reads are allowed (quote ${word} if it is a name)`,
    )
  }
  const isVerb = next?.kind === 'name' && systemVerbs.test(next.text)
  if (word === 'SYSTEM' && isVerb && !isOperand(index, tokens)) {
    throw new Rejection('write', token.position, 'SYSTEM statements change the server; only reads are allowed')
  }
  if (word === 'INTO' && isWord(next, 'OUTFILE')) {
    throw new Rejection('output', token.position, 'INTO OUTFILE is not allowed; the rows are in the response')
  }
  if (word === 'PARALLEL' && isWord(next, 'WITH')) {
    throw new Rejection('several-statements', token.position, 'PARALLEL WITH combines statements; send one at a time')
  }
  if (word === 'SETTINGS' && isClause(index, tokens)) {
    throw new Rejection('settings', token.position, 'a SETTINGS clause is not allowed; limits are set by the server')
  }
  // `* APPLY(lower)` calls a function without its own parentheses.
  if (word === 'APPLY') checkFunction(isPunctuation(next, '(') ? tokens[index + 2] : next)
}

/** Returns whether the word is a column: an expression continues after it, while a target follows a write keyword. */
const isColumn = (word: Keyword | '', next: Token | undefined): boolean => {
  if (next === undefined) return true
  if (next.kind === 'sign') return afterName.has(next.text) || (word === 'TRUNCATE' && next.text === '(')
  return next.word === 'AS' || (next.word === 'FROM' && word !== 'DELETE')
}

const afterName: ReadonlySet<string> = new Set([...',).=<>+-*/%|!?:[]', '\u2212'])

/** Returns whether an operand is expected, so that the word is a name: `SELECT delete FROM t`, `WHERE set > 1`. */
const isOperand = (index: number, tokens: readonly Token[]): boolean => {
  if (mayBeginStatement(index, tokens) || isOperandEnd(index - 1, tokens)) return false
  const next = tokens[index + 1]
  return (
    tokens[index]?.word !== 'INSERT' ||
    (next !== undefined && next.word !== 'INTO' && keywordsAfterColumn.has(next.word))
  )
}

/**
 * Returns whether a statement may begin here: at the start, after a word such as EXPLAIN or WITH, or in
 * parentheses after EXPLAIN.
 */
const mayBeginStatement = (index: number, tokens: readonly Token[]): boolean => {
  let before = index - 1
  while (isPunctuation(tokens[before], '(')) before--
  if (before === index - 1) return before < 0 || beginsStatement.has(tokens[before]?.word ?? '')
  while (before >= 0 && !endsHead(tokens[before])) before--
  return tokens[before]?.word === 'EXPLAIN'
}

const beginsStatement: ReadonlySet<string> = new Set(['EXPLAIN', 'WITH', 'RECURSIVE', 'AST', 'PARALLEL', 'TABLE'])

/** Matches tokens that cannot occur between EXPLAIN and its statement. */
const endsHead = (token: Token | undefined): boolean =>
  token?.word === 'EXPLAIN' || token?.word === 'SELECT' || isPunctuation(token, '(') || isPunctuation(token, ')')

/** Any word except an operator may be the verb of a SYSTEM statement, because new verbs appear with new versions. */
const systemVerbs =
  /^(?!(?:AS|FROM|IN|NOT|LIKE|ILIKE|IS|AND|OR|DESC|ASC|BETWEEN|WHERE|GROUP|ORDER|LIMIT|ON|USING|JOIN|INNER|LEFT|FINAL)$)/i

const isClause = (index: number, tokens: readonly Token[]): boolean => {
  const next = tokens[index + 1]
  if (next === undefined || (next.kind !== 'name' && next.kind !== 'quoted')) return false
  if (isPunctuation(tokens[index + 2], '=')) return true
  if (isUsedAsName(index, tokens)) return false
  return next.kind === 'quoted' || !keywordsAfterColumn.has(next.word)
}

const checkCall = (index: number, tokens: readonly Token[]): void => {
  const caller = tokens[index - 1]
  checkFunction(caller)
  if (caller?.kind === 'sign' || !higherOrderFunctions.has(caller?.text.toLowerCase() ?? '')) return
  let first = index + 1
  while (isPunctuation(tokens[first], '(')) first++
  // Skips the parentheses that close those opened at the start of the argument.
  let next = first + 1
  while (isPunctuation(tokens[next], ')') && next < 2 * first - index) next++
  // A single argument is a column: `arraySum(file)`.
  if (isPunctuation(tokens[next], ',') || isWord(tokens[next], 'AS')) checkFunction(tokens[first])
}

const checkFunction = (token: Token | undefined): void => {
  if (token?.kind !== 'name' && token?.kind !== 'quoted') return
  if (token.kind === 'quoted' && token.text.includes('\\')) {
    throw new Rejection('function', token.position, 'a function name may not contain a backslash')
  }
  if (isForbiddenFunction(token.text.toLowerCase())) {
    throw new Rejection(
      'function',
      token.position,
      `${token.text}() is not allowed: it accesses data outside the tables of this host, or only consumes time`,
    )
  }
}

const isWord = (token: Token | undefined, word: Keyword): boolean => token?.word === word

/**
 * Returns the tokens with `as`, `is` and `in` as names where they are the first column after TOP or DISTINCT ON.
 * Examples are `SELECT TOP 1 as FROM t` and `SELECT DISTINCT ON (a) is FROM t`.
 */
const withFirstColumns = (tokens: readonly Token[]): readonly Token[] => {
  // Most statements have neither TOP nor DISTINCT ON.
  if (!tokens.some((_, index) => isHead(index, tokens))) return tokens
  const opened: number[] = []
  let follows = false
  return tokens.map((token, index) => {
    const first = follows ? firstColumn(token) : token
    if (isPunctuation(token, '(')) opened.push(index)
    if (isPunctuation(token, ')')) follows = isHead((opened.pop() ?? 0) - 1, tokens)
    else follows = isNumberOfRows(index, tokens) || (follows && token.word === 'NOT')
    return first
  })
}

const firstColumn = (token: Token): Token => {
  if (token.word === 'AS' || token.word === 'IS') return { ...token, word: '' }
  return token.word === 'IN' ? { ...token, kind: 'quoted' } : token
}

/** Matches `TOP` and the `ON` of `DISTINCT ON`. */
const isHead = (index: number, tokens: readonly Token[]): boolean => {
  const word = tokens[index]?.word
  return word === 'TOP' || (word === 'ON' && tokens[index - 1]?.word === 'DISTINCT')
}

const isNumberOfRows = (index: number, tokens: readonly Token[]): boolean =>
  tokens[index]?.kind === 'literal' &&
  tokens[isPunctuation(tokens[index - 1], '-') ? index - 2 : index - 1]?.word === 'TOP'

/** Statements allowed in `EXPLAIN AST`, which accepts any statement; other kinds of EXPLAIN accept only reads. */
const readingWords: ReadonlySet<string> = new Set([
  'SELECT',
  'WITH',
  'FROM',
  'DESCRIBE',
  'DESC',
  'EXPLAIN',
  'SHOW',
  'EXISTS',
])

/** Throws unless EXPLAIN AST explains a read; `EXPLAIN AST optimize = 0 COMMIT` does not. */
const checkExplained = (tokens: readonly Token[]): void => {
  let index = 0
  while (tokens[index]?.word === 'EXPLAIN' && tokens[index + 1]?.word === 'AST') {
    index = endOfSettings(index + 2, tokens)
    while (isPunctuation(tokens[index], '(')) index++
  }
  const first = tokens[index]
  if (index > 0 && first !== undefined && !readingWords.has(first.text.toUpperCase()))
    throw new Rejection('first-word', first.position, 'EXPLAIN AST is only allowed for statements that read')
  if (tokens[0]?.word === 'EXPLAIN') checkCalls(tokens)
}

const kinds: ReadonlySet<string> = new Set([
  'EXPLAIN',
  'AST',
  'SYNTAX',
  'PLAN',
  'PIPELINE',
  'ESTIMATE',
  'TREE',
  'TABLE',
  'OVERRIDE',
  'ANALYZE',
])

/** Throws for a call between EXPLAIN and its statement: `EXPLAIN PLAN somethingNew('x')`. */
const checkCalls = (tokens: readonly Token[]): void => {
  for (const [index, token] of tokens.entries()) {
    const word = token.text.toUpperCase()
    if (index > 0 && token.kind === 'name' && readingWords.has(word)) return
    const isCalled = (token.kind === 'name' || token.kind === 'quoted') && isPunctuation(tokens[index + 1], '(')
    if (isCalled && !(token.kind === 'name' && kinds.has(word)))
      throw new Rejection('source', token.position, `${token.text}() is not a statement that EXPLAIN supports`)
    if (isPunctuation(token, '(')) return
  }
}

const endOfSettings = (start: number, tokens: readonly Token[]): number => {
  let index = start
  while (isPunctuation(tokens[index + 1], '=')) {
    const end = index + (isPunctuation(tokens[index + 2], '-') ? 4 : 3)
    if (!isPunctuation(tokens[end], ',')) return end
    index = end + 1
  }
  return index
}
