import { checkClusters } from './clusters.ts'
import { afterColumn, firstWords, guardedWords, type Keyword, writingWords } from './keywords.ts'
import { isSign, lex, type Token } from './lexer.ts'
import { isRefusedFunction, takesFunction, endsOperand, isName, isQualified } from './names.ts'
import { Rejection } from './rejection.ts'
import { checkSources } from './sources.ts'

/** What the operator allows beyond the rules. */
export interface Allowed {
  /** Any table of a cluster may be read, not only `system` ones. */
  clusterTables?: boolean
}

/** Longest statement that is looked at, in characters. */
const longestStatement = 100_000

/**
 * Throws a `Rejection` unless the text is one statement that only reads from this host.
 * A second fence: the client still sets `readonly=1` and limits, which the host itself enforces.
 */
export const checkReadOnly = (sql: string, { clusterTables = false }: Allowed = {}): void => {
  if (sql.length > longestStatement) {
    throw new Rejection('too-long', longestStatement, `longer than ${longestStatement} characters`)
  }
  const tokens = withFirstColumns(oneStatement(lex(sql)))
  checkFirstWord(tokens)
  tokens.forEach((token, index) => checkToken(token, index, tokens))
  checkExplained(tokens)
  const sources = checkSources(tokens)
  if (sources.readsCluster && !clusterTables) checkClusters(tokens, sources)
}

const oneStatement = (tokens: readonly Token[]): readonly Token[] => {
  const last = tokens.findLastIndex((token) => !isSign(token, ';'))
  const statement = last === tokens.length - 1 ? tokens : tokens.slice(0, last + 1)
  for (const token of statement) {
    if (isSign(token, ';')) throw new Rejection('several-statements', token.position, 'send one statement at a time')
  }
  if (statement.length === 0) throw new Rejection('empty', 0, 'there is no statement')
  return statement
}

const checkFirstWord = ([first]: readonly Token[]): void => {
  if (first && firstWords.has(first.word)) return
  throw new Rejection('first-word', first?.position ?? 0, `must begin with ${[...firstWords].join(', ')}`)
}

const checkToken = (token: Token, index: number, tokens: readonly Token[]): void => {
  if (isSign(token, '(')) checkCall(index, tokens)
  else if (guardedWords.has(token.word) && !isQualified(index, tokens)) checkWord(token, index, tokens)
}

const checkWord = (token: Token, index: number, tokens: readonly Token[]): void => {
  const { word } = token
  const next = tokens[index + 1]
  if (writingWords.has(word) && !isName(index, tokens) && !isColumn(word, next) && !isOperand(index, tokens)) {
    throw new Rejection(
      'write',
      token.position,
      `${word} changes data or the server; only reading is allowed (a name is written in quotes)`,
    )
  }
  const isVerb = next?.kind === 'name' && systemVerbs.test(next.text)
  if (word === 'SYSTEM' && isVerb && !isOperand(index, tokens)) {
    throw new Rejection('write', token.position, 'SYSTEM statements change the server; only reading is allowed')
  }
  if (word === 'INTO' && isWord(next, 'OUTFILE')) {
    throw new Rejection('output', token.position, 'INTO OUTFILE writes a file; the rows are answered instead')
  }
  if (word === 'PARALLEL' && isWord(next, 'WITH')) {
    throw new Rejection('several-statements', token.position, 'PARALLEL WITH joins statements; send one at a time')
  }
  if (word === 'SETTINGS' && isClause(index, tokens)) {
    throw new Rejection('settings', token.position, 'a SETTINGS clause is not allowed; limits are set for you')
  }
  // `* APPLY(lower)` calls a function without parentheses of its own.
  if (word === 'APPLY') checkFunction(isSign(next, '(') ? tokens[index + 2] : next)
}

/** What a writing word changes follows it; a column of its name is followed by what follows an expression. */
const isColumn = (word: Keyword | '', next: Token | undefined): boolean => {
  if (next === undefined) return true
  if (next.kind === 'sign') return afterName.has(next.text) || (word === 'TRUNCATE' && next.text === '(')
  return next.word === 'AS' || (next.word === 'FROM' && word !== 'DELETE')
}

const afterName: ReadonlySet<string> = new Set([...',).=<>+-*/%|!?:[]', '\u2212'])

/** Whether the words before ask for an operand, so that this one is a name: `SELECT delete FROM t`, `WHERE set > 1`, `FROM update`. */
const isOperand = (index: number, tokens: readonly Token[]): boolean => {
  if (mayBeginStatement(index, tokens) || endsOperand(index - 1, tokens)) return false
  const next = tokens[index + 1]
  return tokens[index]?.word !== 'INSERT' || (next !== undefined && next.word !== 'INTO' && afterColumn.has(next.word))
}

/** A statement begins behind EXPLAIN only, also in parentheses, or in a WITH clause, which INSERT alone may follow. */
const mayBeginStatement = (index: number, tokens: readonly Token[]): boolean => {
  let before = index - 1
  while (isSign(tokens[before], '(')) before--
  if (before === index - 1) return before < 0 || beginsStatement.has(tokens[before]?.word ?? '')
  while (before >= 0 && !endsHead(tokens[before])) before--
  return tokens[before]?.word === 'EXPLAIN'
}

const beginsStatement: ReadonlySet<string> = new Set(['EXPLAIN', 'WITH', 'RECURSIVE', 'AST', 'PARALLEL', 'TABLE'])

/** What cannot stand between EXPLAIN and its statement, where its kind and settings do. */
const endsHead = (token: Token | undefined): boolean =>
  token?.word === 'EXPLAIN' || token?.word === 'SELECT' || isSign(token, '(') || isSign(token, ')')

/** Any word but an operator may be the verb of a SYSTEM statement: new ones keep coming. */
const systemVerbs =
  /^(?!(?:AS|FROM|IN|NOT|LIKE|ILIKE|IS|AND|OR|DESC|ASC|BETWEEN|WHERE|GROUP|ORDER|LIMIT|ON|USING|JOIN|INNER|LEFT|FINAL)$)/i

const isClause = (index: number, tokens: readonly Token[]): boolean => {
  const next = tokens[index + 1]
  if (next === undefined || (next.kind !== 'name' && next.kind !== 'quoted')) return false
  if (isSign(tokens[index + 2], '=')) return true
  if (isName(index, tokens)) return false
  return next.kind === 'quoted' || !afterColumn.has(next.word)
}

const checkCall = (index: number, tokens: readonly Token[]): void => {
  const caller = tokens[index - 1]
  checkFunction(caller)
  if (caller?.kind === 'sign' || !takesFunction.has(caller?.text.toLowerCase() ?? '')) return
  let first = index + 1
  while (isSign(tokens[first], '(')) first++
  // As many parentheses close as were opened within the argument.
  let next = first + 1
  while (isSign(tokens[next], ')') && next < 2 * first - index) next++
  // Alone it is a column: `arraySum(file)`.
  if (isSign(tokens[next], ',') || isWord(tokens[next], 'AS')) checkFunction(tokens[first])
}

const checkFunction = (token: Token | undefined): void => {
  if (token?.kind !== 'name' && token?.kind !== 'quoted') return
  if (token.kind === 'quoted' && token.text.includes('\\')) {
    throw new Rejection('function', token.position, 'the name of a function may hold no backslash')
  }
  if (isRefusedFunction(token.text.toLowerCase())) {
    throw new Rejection(
      'function',
      token.position,
      `${token.text}() is not allowed: it reaches beyond this host's tables, or only takes its time`,
    )
  }
}

const isWord = (token: Token | undefined, word: Keyword): boolean => token?.word === word

/**
 * The tokens of a statement, where `as` and `is` that stand first in a list of columns are names, and `in` may be one or the operator:
 * what stands before them in `SELECT TOP 1 as FROM t` or `SELECT DISTINCT ON (a) is FROM t` is no expression that they go on with.
 */
const withFirstColumns = (tokens: readonly Token[]): readonly Token[] => {
  // Most statements have nothing before their columns, and are told by that.
  if (!tokens.some((_, index) => isHead(index, tokens))) return tokens
  const opened: number[] = []
  let follows = false
  return tokens.map((token, index) => {
    const first = follows ? firstColumn(token) : token
    if (isSign(token, '(')) opened.push(index)
    if (isSign(token, ')')) follows = isHead((opened.pop() ?? 0) - 1, tokens)
    else follows = isNumberOfRows(index, tokens) || (follows && token.word === 'NOT')
    return first
  })
}

const firstColumn = (token: Token): Token => {
  if (token.word === 'AS' || token.word === 'IS') return { ...token, word: '' }
  return token.word === 'IN' ? { ...token, kind: 'quoted' } : token
}

/** `TOP` and the `ON` of `DISTINCT ON`. */
const isHead = (index: number, tokens: readonly Token[]): boolean => {
  const word = tokens[index]?.word
  return word === 'TOP' || (word === 'ON' && tokens[index - 1]?.word === 'DISTINCT')
}

const isNumberOfRows = (index: number, tokens: readonly Token[]): boolean =>
  tokens[index]?.kind === 'literal' && tokens[isSign(tokens[index - 1], '-') ? index - 2 : index - 1]?.word === 'TOP'

/** What `EXPLAIN AST` may show. It takes any statement; every other kind of EXPLAIN takes those that read or are refused anyway. */
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

/** Throws unless EXPLAIN shows a statement, and EXPLAIN AST one that only reads: `EXPLAIN AST optimize = 0 COMMIT` does not. */
const checkExplained = (tokens: readonly Token[]): void => {
  let index = 0
  while (tokens[index]?.word === 'EXPLAIN' && tokens[index + 1]?.word === 'AST') {
    index = endOfSettings(index + 2, tokens)
    while (isSign(tokens[index], '(')) index++
  }
  const first = tokens[index]
  if (index > 0 && first !== undefined && !readingWords.has(first.text.toUpperCase()))
    throw new Rejection('first-word', first.position, 'EXPLAIN AST is only allowed for a statement that reads')
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

/** Throws for what looks like a call between EXPLAIN and the statement: `EXPLAIN PLAN somethingNew('x')`. */
const checkCalls = (tokens: readonly Token[]): void => {
  for (const [index, token] of tokens.entries()) {
    const word = token.text.toUpperCase()
    if (index > 0 && token.kind === 'name' && readingWords.has(word)) return
    const isCalled = (token.kind === 'name' || token.kind === 'quoted') && isSign(tokens[index + 1], '(')
    if (isCalled && !(token.kind === 'name' && kinds.has(word)))
      throw new Rejection('source', token.position, `${token.text}() is no statement that EXPLAIN can show`)
    if (isSign(token, '(')) return
  }
}

const endOfSettings = (start: number, tokens: readonly Token[]): number => {
  let index = start
  while (isSign(tokens[index + 1], '=')) {
    const end = index + (isSign(tokens[index + 2], '-') ? 4 : 3)
    if (!isSign(tokens[end], ',')) return end
    index = end + 1
  }
  return index
}
