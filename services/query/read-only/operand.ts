import { isSign, type Token } from './lexer.ts'

/** Whether an expression may end here. Words that the guard knows are no operands, but for names such as `t.format` and the end of a CASE. */
export const endsOperand = (index: number, tokens: readonly Token[]): boolean => {
  const token = tokens[index]
  if (token?.kind === 'sign') return token.text === ')' || token.text === ']' || token.text === '}'
  return token?.word === '' || token?.word === 'END' || isSign(tokens[index - 1], '.')
}

/** Whether a word is a name whatever it means elsewhere: `t.format`, `t AS format`, but not `SELECT as FROM t`. */
export const isName = (index: number, tokens: readonly Token[]): boolean =>
  isSign(tokens[index - 1], '.') || (tokens[index - 1]?.word === 'AS' && endsOperand(index - 2, tokens))
