import { isSign, type Token } from './lexer.ts'
import { Rejection } from './rejection.ts'

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
export const checkExplained = (tokens: readonly Token[]): void => {
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
