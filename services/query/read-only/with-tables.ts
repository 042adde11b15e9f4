import { isSign, type Token } from './lexer.ts'
import { subqueryWords } from './keywords.ts'
import { clusterFunctions } from './names.ts'

/** Table functions whose arguments see no WITH clause around them: a name there is a table. */
const ownScopes: ReadonlySet<string> = new Set(['view', 'viewifpermitted', ...clusterFunctions])

/** The indexes of names that stand for a table expression which the WITH clause of the whole statement has defined before. */
export const namesOfWith = (tokens: readonly Token[]): ReadonlySet<number> => {
  const names = new Set<number>()
  if (tokens[0]?.word !== 'WITH') return names
  const defined = new Set<string>()
  const opened: { index: number; seesWith: boolean }[] = []
  let definesTables = true
  tokens.forEach((token, index) => {
    const enclosing = opened.at(-1)
    const seesWith = enclosing?.seesWith ?? true
    if (isSign(token, '(')) opened.push({ index, seesWith: seesWith && !isOwnScope(index, tokens) })
    else if (isSign(token, ')')) {
      opened.pop()
      if (definesTables && opened.length === 0 && enclosing && isTable(enclosing.index, tokens))
        defined.add(tokens[enclosing.index - 2]?.text ?? '')
    } else if (token.word === 'SELECT' && enclosing === undefined) definesTables = false
    else if (seesWith && defined.has(token.text) && !isSign(tokens[index + 1], '.')) names.add(index)
  })
  return names
}

/** `view(…)`, and `(EXPLAIN …)`, which the server makes a table function of. */
const isOwnScope = (open: number, tokens: readonly Token[]): boolean =>
  tokens[open + 1]?.word === 'EXPLAIN' || ownScopes.has(tokens[open - 1]?.text.toLowerCase() ?? '')

/** `name AS (SELECT …`. */
const isTable = (open: number, tokens: readonly Token[]): boolean =>
  tokens[open - 1]?.word === 'AS' && subqueryWords.has(tokens[open + 1]?.word ?? '')
