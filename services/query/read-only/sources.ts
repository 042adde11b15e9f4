import type { TableNamePositions } from './clusters.ts'
import { clauseKeywords, sourceEndKeywords, type Keyword, subqueryKeywords } from './keywords.ts'
import { isPunctuation, type Token } from './lexer.ts'
import {
  clusterFunctions,
  functionsWithFromArgument,
  allowedTableFunctions,
  isUsedAsName,
  isOperandEnd,
  checkInOperandCall,
  isMembershipCall,
  type InOperandCall,
  findDisallowedInOperandCall,
} from './names.ts'
import { Rejection } from './rejection.ts'

/** `hasColumnInTable` has three arguments for a local table; more arguments name another server. */
const argumentsOfLocalTable = 3

/** One level of parentheses. */
interface Level {
  /** Lower-case name before the opening parenthesis; empty for a plain group. */
  caller: string
  /** Whether the next name is a table or table function. */
  expectsSource: boolean
  /** Whether the position is within a FROM list, where a comma begins another table. */
  inSources: boolean
  selects: boolean
  /** Whether the query already has its SELECT list, so that the word `SELECT` cannot begin one. */
  hasColumns: boolean
  /** Whether the position is within ORDER BY, where `WITH FILL FROM` begins an expression. */
  orders: boolean
  commas: number
  /** Whether the level holds the arguments of the function form of IN. */
  isSetFunction: boolean
  /** The call after IN whose arguments the level holds. */
  setCall: InOperandCall | undefined
}

const level = (caller: string): Level => ({
  caller,
  expectsSource: false,
  inSources: false,
  selects: false,
  hasColumns: false,
  orders: false,
  commas: 0,
  isSetFunction: false,
  setCall: undefined,
})

/**
 * Returns the positions of table names. Throws for a table function that is not on the allow list. A deny list would
 * miss the new table functions of each release.
 */
export const checkSources = (tokens: readonly Token[]): TableNamePositions => {
  const levels = [level('')]
  const indexes: number[] = []
  let readsCluster = false
  tokens.forEach((token, index) => {
    const current = levels.at(-1)
    // The outermost level stays; the host rejects unbalanced parentheses.
    if (!current) return
    if (token.kind === 'sign') {
      readSign(token, index, tokens, levels, current)
      if (token.text === '(' && isClusterCall(tokens[index - 1])) readsCluster = true
    } else if (readWord(token, index, tokens, current) && !clusterFunctions.has(current.caller)) indexes.push(index)
  })
  return { indexes, readsCluster }
}

/** Returns whether a name calls a cluster function. Its length rules out most names without a lookup. */
const isClusterCall = (caller: Token | undefined): boolean =>
  (caller?.text.length === 7 || caller?.text.length === 18) && clusterFunctions.has(caller.text.toLowerCase())

const readSign = (token: Token, index: number, tokens: readonly Token[], levels: Level[], current: Level): void => {
  if (token.text === '(') {
    const before = tokens[index - 1]
    const inner = level(before?.kind === 'name' || before?.kind === 'quoted' ? before.text.toLowerCase() : '')
    // In a FROM list, parentheses hold a subquery or another list: `FROM (a JOIN b USING c)`.
    inner.expectsSource = inner.inSources = current.expectsSource
    inner.isSetFunction = isMembershipCall(index - 1, tokens)
    inner.setCall = findDisallowedInOperandCall(index, tokens, levels)
    levels.push(inner)
    current.expectsSource = false
  } else if (token.text === ')') {
    if (current.setCall) checkInOperandCall(current.setCall, tokens[index + 1])
    if (levels.length > 1) levels.pop()
  } else if (token.text === ',') {
    current.commas++
    current.expectsSource = current.inSources || (current.commas === 1 && clusterFunctions.has(current.caller))
    if (current.caller === 'hascolumnintable' && current.commas >= argumentsOfLocalTable) {
      throw new Rejection('function', token.position, 'hasColumnInTable() may not name another server')
    }
  }
}

/** Updates the state of the level for a word. Returns whether the word is the name of a table. */
const readWord = (token: Token, index: number, tokens: readonly Token[], current: Level): boolean => {
  const word = token.word
  if (current.expectsSource && token.kind !== 'literal') {
    if (beginsSubquery(index, tokens)) current.inSources = current.expectsSource = false
    else if (word !== 'FROM' && word !== 'JOIN') return readSource(token, index, tokens, current)
  }
  // `viewIfPermitted(SELECT … ELSE source)`. The ELSE of a CASE in its SELECT is treated the same, to be safe.
  if (word === 'ELSE' && current.caller === 'viewifpermitted') current.expectsSource = true
  if (word === '' || !clauseKeywords.has(word) || isUsedAsName(index, tokens)) return false
  // A word before a comma is not a clause: `SELECT join, b`, `FROM t select, u`.
  if (isPunctuation(tokens[index + 1], ',')) return false
  enterClause(word, index, tokens, current)
  return false
}

/** Returns whether a word in a FROM list is a table, as in `FROM format, url`. Throws for forbidden functions. */
const readSource = (token: Token, index: number, tokens: readonly Token[], current: Level): boolean => {
  if (precedesSource(token.word, index, tokens)) return false
  if (isPunctuation(tokens[index + 1], '(') && !allowedTableFunctions.has(token.text.toLowerCase())) {
    throw new Rejection(
      'source',
      token.position,
      `the table function ${token.text}() is not allowed (write a parameterized view with its database)`,
    )
  }
  current.expectsSource = false
  return true
}

/** Matches the keywords of `DESCRIBE TABLE x` and `EXPLAIN TABLE OVERRIDE x`. */
const precedesSource = (word: Keyword | '', index: number, tokens: readonly Token[]): boolean =>
  (word === 'TABLE' && index === 1) || (word === 'OVERRIDE' && index === 2 && wordAt(tokens, 0) === 'EXPLAIN')

const beginsSubquery = (index: number, tokens: readonly Token[]): boolean => {
  if (!subqueryKeywords.has(wordAt(tokens, index)) || isPunctuation(tokens[index + 1], ',')) return false
  if (isPunctuation(tokens[index - 1], '(')) return true
  const before = wordAt(tokens, index - 1)
  return before === 'DESCRIBE' || (before === 'TABLE' && index === 2)
}

const enterClause = (word: Keyword, index: number, tokens: readonly Token[], current: Level): void => {
  if (word === 'BY' && wordAt(tokens, index - 1) === 'ORDER') current.orders = true
  else if (sourceEndKeywords.has(word)) current.orders = false
  if (word === 'FROM' && !isExpression(index, tokens, current)) expectSources(current)
  else if (word === 'JOIN') current.expectsSource = current.inSources = !isArrayJoin(index, tokens)
  else if (word === 'DESCRIBE') current.expectsSource = index === 0
  else if (word === 'TABLE') current.expectsSource = index === 1 && wordAt(tokens, 0) === 'EXPLAIN'
  else if (word === 'SELECT') enterColumns(current)
  else if (endsSources(word, index, tokens)) {
    current.inSources = false
    if (betweenQueries.has(word)) current.hasColumns = false
  }
}

/** Ends the FROM list in `FROM t SELECT a`, but not in `SELECT a FROM t select`, where the word is a table alias. */
const enterColumns = (current: Level): void => {
  if (!current.hasColumns) current.inSources = false
  current.selects = current.hasColumns = true
}

const betweenQueries: ReadonlySet<Keyword> = new Set(['UNION', 'EXCEPT', 'INTERSECT'])

/** Returns whether a clause ends the FROM list. In `ON limit = b` and `USING where`, the word is a column. */
const endsSources = (word: Keyword, index: number, tokens: readonly Token[]): boolean =>
  sourceEndKeywords.has(word) && isOperandEnd(index - 1, tokens) && !(word === 'EXCEPT' && isTransformer(index, tokens))

/** Returns whether EXCEPT excludes columns, as in `COLUMNS('a') EXCEPT b`; `EXCEPT SELECT` begins another query. */
const isTransformer = (index: number, tokens: readonly Token[]): boolean => {
  let next = index + 1
  while (isPunctuation(tokens[next], '(')) next++
  const after = wordAt(tokens, next)
  return !subqueryKeywords.has(after) && after !== 'ALL' && after !== 'DISTINCT'
}

const expectSources = (current: Level): void => {
  current.expectsSource = true
  current.inSources = true
}

/** Returns whether expressions follow JOIN, as in ARRAY JOIN. In `FROM array JOIN t`, `array` is a name. */
const isArrayJoin = (index: number, tokens: readonly Token[]): boolean => {
  if (wordAt(tokens, index - 1) !== 'ARRAY' || isUsedAsName(index - 1, tokens)) return false
  return isOperandEnd(index - 2, tokens)
}

const isExpression = (index: number, tokens: readonly Token[], current: Level): boolean => {
  if (functionsWithFromArgument.has(current.caller) && !current.selects) return true
  const before = wordAt(tokens, index - 1)
  if (before === 'FILL') return current.orders && wordAt(tokens, index - 2) === 'WITH'
  return before === 'DISTINCT' && isComparison(index - 2, tokens)
}

/** Matches `a IS DISTINCT FROM b`, but not columns named `is` or `distinct`. */
const isComparison = (index: number, tokens: readonly Token[]): boolean => {
  const is = wordAt(tokens, index) === 'NOT' ? index - 1 : index
  return wordAt(tokens, is) === 'IS' && isOperandEnd(is - 1, tokens)
}

const wordAt = (tokens: readonly Token[], index: number): Keyword | '' => tokens[index]?.word ?? ''
