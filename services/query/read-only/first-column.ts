import { isSign, type Token } from './lexer.ts'

/**
 * The tokens of a statement, where `as` and `is` that stand first in a list of columns are names:
 * what stands before them in `SELECT TOP 1 as FROM t` or `SELECT DISTINCT ON (a) is FROM t` is no expression that they go on with.
 */
export const withFirstColumns = (tokens: readonly Token[]): readonly Token[] => {
  // Most statements have nothing before their columns, and are told by that.
  if (!tokens.some((_, index) => isHead(index, tokens))) return tokens
  const opened: number[] = []
  let follows = false
  return tokens.map((token, index) => {
    const isFirst = follows && (token.word === 'AS' || token.word === 'IS')
    if (isSign(token, '(')) opened.push(index)
    follows = isSign(token, ')') ? isHead((opened.pop() ?? 0) - 1, tokens) : isNumberOfRows(index, tokens)
    return isFirst ? { ...token, word: '' } : token
  })
}

/** `TOP` and the `ON` of `DISTINCT ON`. */
const isHead = (index: number, tokens: readonly Token[]): boolean => {
  const word = tokens[index]?.word
  return word === 'TOP' || (word === 'ON' && tokens[index - 1]?.word === 'DISTINCT')
}

const isNumberOfRows = (index: number, tokens: readonly Token[]): boolean =>
  tokens[index]?.kind === 'literal' && tokens[isSign(tokens[index - 1], '-') ? index - 2 : index - 1]?.word === 'TOP'
