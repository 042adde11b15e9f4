import { subqueryWords } from './keywords.ts'
import { isSign, type Token } from './lexer.ts'
import { makesSet } from './names.ts'
import { surelyEndsOperand } from './operand.ts'
import { Rejection } from './rejection.ts'

/** Functions that are the operator IN: their second argument may be a table. */
const setFunction = /^(?:global)?(?:not)?(?:null)?in(?:ignoreset)?$/i

/** Whether a name that is called is the operator IN as a function: `in(x, t)`, but not `x IN (t)`. */
export const isSetFunction = (index: number, tokens: readonly Token[]): boolean => {
  const token = tokens[index]
  if (token === undefined || !setFunction.test(token.text)) return false
  return token.word !== 'IN' || token.kind === 'quoted' || !followsOperand(index, tokens)
}

const followsOperand = (index: number, tokens: readonly Token[]): boolean => {
  const before = tokens[index - 1]?.word
  if (before === 'NOT' || before === 'GLOBAL') return followsOperand(index - 1, tokens)
  return surelyEndsOperand(index - 1, tokens)
}

/** A call where a set is expected, which might be a table function that is not known yet. */
export interface SetCall {
  caller: Token
  /** Parentheses around it may hold a list, as in `IN (f(x), 1)`, where it is no table. */
  mayBeListed: boolean
}

/** The call that opens here, if it stands behind IN and is not among the functions that may. */
export const unknownSetCall = (
  open: number,
  tokens: readonly Token[],
  levels: readonly { isSetFunction: boolean }[],
): SetCall | undefined => {
  const caller = tokens[open - 1]
  if (caller === undefined || !isCalled(caller)) return undefined
  let start = open - 1
  while (isSign(tokens[start - 1], '.')) start -= 2
  let first = start
  while (isSign(tokens[first - 1], '(')) first--
  const before = tokens[first - 1]
  const isSet = before?.word === 'IN' || (isSign(before, ',') && levels.at(first - start - 1)?.isSetFunction === true)
  return isSet && !makesSet(caller.text.toLowerCase()) ? { caller, mayBeListed: first < start } : undefined
}

const isCalled = ({ kind, word }: Token): boolean =>
  (kind === 'name' || kind === 'quoted') && word !== 'NOT' && word !== 'IN' && !subqueryWords.has(word)

/** Throws for a call behind IN, unless what follows its closing parenthesis makes it part of a list. */
export const checkSetCall = ({ caller, mayBeListed }: SetCall, next: Token | undefined): void => {
  if (mayBeListed && isSign(next, ',')) return
  const { text, position } = caller
  throw new Rejection(
    'source',
    position,
    `${text}() after IN is not a known function and may read a table; use a subquery: IN (SELECT ${text}(…))`,
  )
}
