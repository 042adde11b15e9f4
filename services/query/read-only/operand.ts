import { type Keyword, beforeOperand, prefixWords } from './keywords.ts'
import { isSign, type Token } from './lexer.ts'

/** Whether an expression may end here: with a name, a literal or what is closed, not with an operator or a word that begins a list. */
export const endsOperand = (index: number, tokens: readonly Token[]): boolean => {
  const token = tokens[index]
  if (token === undefined) return false
  if (token.kind === 'sign') return token.text === ')' || token.text === ']' || token.text === '}'
  if (token.word === '' || isQualified(index, tokens)) return true
  const withPrefix = onlyAfter.get(token.word)
  if (withPrefix !== undefined) return !withPrefix.includes(tokens[index - 1]?.word ?? '')
  return !beforeOperand.has(token.word)
}

/** Words that are names unless one of the others stands before them: `* EXCEPT STRICT a`, `WITH RECURSIVE a`, `TOP 1 WITH TIES a`, `AT TIME ZONE a`. */
const onlyAfter: ReadonlyMap<Keyword, readonly string[]> = new Map([
  ['STRICT', ['EXCEPT', 'REPLACE']],
  ['RECURSIVE', ['WITH']],
  ['TIES', ['WITH']],
  ['ZONE', ['TIME']],
])

/** Whether an expression ends here for certain: it may not where `interval` or `offset` may be a keyword as well as a column. */
export const surelyEndsOperand = (index: number, tokens: readonly Token[]): boolean =>
  endsOperand(index, tokens) && (isQualified(index, tokens) || !prefixWords.has(tokens[index]?.word ?? ''))

/** Whether a word is a name whatever it means elsewhere: `t.format`, `t AS format`, but not `SELECT as FROM t`. */
export const isName = (index: number, tokens: readonly Token[]): boolean =>
  isQualified(index, tokens) || (tokens[index - 1]?.word === 'AS' && surelyEndsOperand(index - 2, tokens))

/** Whether a dot makes a word part of a name. In `SAMPLE . JOIN t` and `SAMPLE 1 / . JOIN t` the dot is a number of its own. */
export const isQualified = (index: number, tokens: readonly Token[]): boolean => {
  if (!isSign(tokens[index - 1], '.')) return false
  const before = tokens[index - 2]
  return before?.word !== 'SAMPLE' && before?.word !== 'OFFSET' && !isSign(before, '/')
}
