import { clauseWords, endOfSources, type Keyword } from './keywords.ts'
import type { Token } from './lexer.ts'
import { fromInArguments, harmlessSources } from './names.ts'
import { Rejection } from './rejection.ts'

/** `hasColumnInTable` takes three arguments for a table of this host; more name another server. */
const argumentsOfLocalTable = 3

/** Table functions whose second argument is a table, or a table function again. */
const takesSource = new Set(['cluster', 'clusterallreplicas'])

/** One level of parentheses. */
interface Level {
  /** Lower-case name before the opening parenthesis; empty for a plain group. */
  caller: string
  /** The next name is a source. */
  expectsSource: boolean
  /** Between FROM and the word that ends its list, where a comma begins another source. */
  inSources: boolean
  selects: boolean
  /** Within ORDER BY, where `WITH FILL FROM` begins an expression. */
  orders: boolean
  commas: number
}

const level = (caller: string): Level => ({
  caller,
  expectsSource: false,
  inSources: false,
  selects: false,
  orders: false,
  commas: 0,
})

/**
 * Throws when a function stands where a table is meant and is not known to be harmless.
 * New table functions appear with every release, so those that may are listed, not those that may not.
 */
export const checkSources = (tokens: readonly Token[]): void => {
  const levels = [level('')]
  tokens.forEach((token, index) => {
    const current = levels.at(-1)
    // Parentheses that do not match are for the host to refuse; the outermost level stays.
    if (!current) return
    if (token.kind === 'sign') readSign(token, index, tokens, levels, current)
    else readWord(token, index, tokens, current)
  })
}

const readSign = (token: Token, index: number, tokens: readonly Token[], levels: Level[], current: Level): void => {
  if (token.text === '(') {
    const before = tokens[index - 1]
    levels.push(level(before?.kind === 'name' || before?.kind === 'quoted' ? before.text.toLowerCase() : ''))
    current.expectsSource = false
  } else if (token.text === ')') {
    if (levels.length > 1) levels.pop()
  } else if (token.text === ',') {
    current.commas++
    current.expectsSource = current.inSources || (current.commas === 1 && takesSource.has(current.caller))
    if (current.caller === 'hascolumnintable' && current.commas >= argumentsOfLocalTable) {
      throw new Rejection('function', token.position, 'hasColumnInTable() may not name another server')
    }
  }
}

const readWord = (token: Token, index: number, tokens: readonly Token[], current: Level): void => {
  const isCall = tokens[index + 1]?.text === '(' && tokens[index + 1]?.kind === 'sign'
  const word = token.word
  if (current.expectsSource && token.kind !== 'literal') {
    if (isCall && word !== 'SELECT' && !harmlessSources.has(token.text.toLowerCase())) {
      throw new Rejection(
        'source',
        token.position,
        `${token.text}() is not among the table functions that may be read from`,
      )
    }
    // DESCRIBE TABLE x, EXPLAIN TABLE OVERRIDE x: the source is still to come.
    if (word !== 'TABLE' && word !== 'OVERRIDE') current.expectsSource = false
  }
  // `viewIfPermitted(SELECT … ELSE source)`. A CASE right in its SELECT counts too, for the sake of what may hide behind one.
  if (word === 'ELSE' && current.caller === 'viewifpermitted') current.expectsSource = true
  if (word !== '' && clauseWords.has(word) && tokens[index - 1]?.text !== '.') enterClause(word, index, tokens, current)
}

const enterClause = (word: Keyword | '', index: number, tokens: readonly Token[], current: Level): void => {
  if (word === 'SELECT') current.selects = true
  if (word === 'BY' && wordAt(tokens, index - 1) === 'ORDER') current.orders = true
  else if (endOfSources.has(word)) current.orders = false
  if (word === 'FROM' && !isExpression(index, tokens, current)) expectSources(current)
  else if (word === 'JOIN') expectJoined(wordAt(tokens, index - 1), current)
  else if (word === 'DESCRIBE' || word === 'DESC' || word === 'EXPLAIN') current.expectsSource = index < 2
  else if (word === 'TABLE' && index < 3) current.expectsSource = true
  else if (endOfSources.has(word)) current.inSources = false
}

const expectSources = (current: Level): void => {
  current.expectsSource = true
  current.inSources = true
}

/** What follows ARRAY JOIN are expressions, not tables. */
const expectJoined = (before: Keyword | '', current: Level): void => {
  current.expectsSource = before !== 'ARRAY'
  current.inSources = before !== 'ARRAY'
}

const isExpression = (index: number, tokens: readonly Token[], current: Level): boolean => {
  if (fromInArguments.has(current.caller) && !current.selects) return true
  const before = wordAt(tokens, index - 2)
  if (current.orders && wordAt(tokens, index - 1) === 'FILL' && before === 'WITH') return true
  return wordAt(tokens, index - 1) === 'DISTINCT' && (before === 'IS' || before === 'NOT')
}

const wordAt = (tokens: readonly Token[], index: number): Keyword | '' => tokens[index]?.word ?? ''
