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

/** Throws unless what `EXPLAIN AST` is asked to show only reads: `EXPLAIN AST optimize = 0 COMMIT` does not. */
export const checkExplained = (tokens: readonly Token[]): void => {
  let index = 0
  while (tokens[index]?.word === 'EXPLAIN' && tokens[index + 1]?.word === 'AST') {
    index = endOfSettings(index + 2, tokens)
    while (isSign(tokens[index], '(')) index++
  }
  const first = tokens[index]
  if (index === 0 || first === undefined || readingWords.has(first.text.toUpperCase())) return
  throw new Rejection('first-word', first.position, 'EXPLAIN AST is only allowed for a statement that reads')
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
