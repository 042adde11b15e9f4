import { isSign, type Token } from './lexer.ts'

/**
 * The tokens of a statement, where `as` and `is` that stand first in a list of columns are names, and `in` may be one or the operator:
 * what stands before them in `SELECT TOP 1 as FROM t` or `SELECT DISTINCT ON (a) is FROM t` is no expression that they go on with.
 */
export const withFirstColumns = (tokens: readonly Token[]): readonly Token[] => {
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
