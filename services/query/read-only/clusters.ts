import { subqueryKeywords } from './keywords.ts'
import { isPunctuation, type Token } from './lexer.ts'
import { clusterFunctions, isTableReader, isQualified, isMembershipCall } from './names.ts'
import { Rejection } from './rejection.ts'

/** Table functions whose arguments do not see the WITH clause of the statement. */
const ownScopes: ReadonlySet<string> = new Set(['view', 'viewifpermitted', ...clusterFunctions])

/** Returns the token indexes of names that refer to common table expressions of the outermost WITH clause. */
const cteReferences = (tokens: readonly Token[]): ReadonlySet<number> => {
  const names = new Set<number>()
  if (tokens[0]?.word !== 'WITH') return names
  const defined = new Set<string>()
  const opened: { index: number; seesWith: boolean }[] = []
  let definesTables = true
  tokens.forEach((token, index) => {
    const enclosing = opened.at(-1)
    const seesWith = enclosing?.seesWith ?? true
    if (isPunctuation(token, '(')) opened.push({ index, seesWith: seesWith && !isOwnScope(index, tokens) })
    else if (isPunctuation(token, ')')) {
      opened.pop()
      if (definesTables && opened.length === 0 && enclosing && isTable(enclosing.index, tokens))
        defined.add(tokens[enclosing.index - 2]?.text ?? '')
    } else if (token.word === 'SELECT' && enclosing === undefined) definesTables = false
    else if (seesWith && defined.has(token.text) && !isPunctuation(tokens[index + 1], '.')) names.add(index)
  })
  return names
}

/** Matches `view(…)`, and `(EXPLAIN …)`, which the server turns into a table function. */
const isOwnScope = (open: number, tokens: readonly Token[]): boolean =>
  tokens[open + 1]?.word === 'EXPLAIN' || ownScopes.has(tokens[open - 1]?.text.toLowerCase() ?? '')

/** Matches `name AS (SELECT …`. */
const isTable = (open: number, tokens: readonly Token[]): boolean =>
  tokens[open - 1]?.word === 'AS' && subqueryKeywords.has(tokens[open + 1]?.word ?? '')

/** The table names in a statement, by token index. */
export interface TableNamePositions {
  indexes: readonly number[]
  /** Whether the statement calls `cluster` or `clusterAllReplicas`. */
  readsCluster: boolean
}

/**
 * Throws unless a statement that reads a cluster reads only `system` tables. Joined tables, tables after IN,
 * dictionaries and join tables are also read on the other nodes, with the credentials of the cluster.
 */
export const checkClusters = (tokens: readonly Token[], { indexes }: TableNamePositions): void => {
  const ctes = cteReferences(tokens)
  for (const index of indexes) requireSystemTable(index, tokens, ctes)
  tokens.forEach((token, index) => {
    if (isPunctuation(token, '(')) checkCallInCluster(index, tokens)
    // IN after AS is checked too, because in `INTERVAL as IN t DAY` it is the operator.
    else if (token.word === 'IN' && !isQualified(index, tokens)) checkSet(index, tokens, ctes)
    else if (isParameterName(index, tokens)) throw rejection(token, 'a table may not be a parameter')
    else if ((token.kind === 'name' || token.kind === 'quoted') && isTableReader(token.text.toLowerCase()))
      throw rejection(token, `${token.text} reads a table that is not a system table`)
  })
}

const rejection = ({ position }: Token, what: string): Rejection =>
  new Rejection(
    'cluster',
    position,
    `${what}; a statement with cluster() or clusterAllReplicas() may read tables of the database system only, named system.table`,
  )

const nowhere: Token = { kind: 'sign', text: '', word: '', position: 0 }
const at = (tokens: readonly Token[], index: number): Token => tokens[index] ?? nowhere

/** Matches `{table:Identifier}`. */
const isParameterName = (index: number, tokens: readonly Token[]): boolean =>
  isPunctuation(tokens[index - 1], ':') && at(tokens, index).text.toLowerCase() === 'identifier'

/** Throws unless the name is a system table or a common table expression. */
const requireSystemTable = (index: number, tokens: readonly Token[], ctes: ReadonlySet<number>): void => {
  const token = at(tokens, index)
  // Calls are checked by `checkCallInCluster`.
  if (isPunctuation(tokens[index + 1], '(')) return
  if (isSystemTable(index, tokens) || ctes.has(index)) return
  throw rejection(token, `"${token.text}" is not a system table`)
}

const isSystemTable = (index: number, tokens: readonly Token[]): boolean => {
  const table = at(tokens, index + 2)
  if (at(tokens, index).text !== 'system' || !isPunctuation(tokens[index + 1], '.')) return false
  return (
    (table.kind === 'name' || table.kind === 'quoted') &&
    !isPunctuation(tokens[index + 3], '.') &&
    !isPunctuation(tokens[index + 3], '(')
  )
}

const checkCallInCluster = (index: number, tokens: readonly Token[]): void => {
  const caller = at(tokens, index - 1)
  if (caller.kind !== 'name' && caller.kind !== 'quoted') return
  const name = caller.text.toLowerCase()
  if (clusterFunctions.has(name)) checkTableOfCluster(index, tokens)
  else if (name === 'merge') requireMergeOfSystem(index, tokens)
  else if (isMembershipCall(index - 1, tokens)) throw rejection(caller, `${caller.text}() may read a table`)
}

const requireMergeOfSystem = (index: number, tokens: readonly Token[]): void => {
  if (at(tokens, index + 1).text === 'system' && isPunctuation(tokens[index + 2], ',')) return
  throw rejection(at(tokens, index - 1), "merge() must read from the database system: write merge('system', …)")
}

/** Checks the second argument of `cluster`: a table, a database followed by a table, or a table function. */
const checkTableOfCluster = (open: number, tokens: readonly Token[]): void => {
  const comma = firstComma(open, tokens)
  // Without a second argument, the function reads `system.one`.
  if (comma === undefined) return
  const token = at(tokens, comma + 1)
  const next = at(tokens, comma + 2)
  if (token.kind === 'name' || token.kind === 'quoted') {
    if (isPunctuation(next, '(')) return
    if (isSystemTable(comma + 1, tokens) && endsArgument(comma + 4, tokens)) return
  }
  const isText = token.kind !== 'sign' && endsArgument(comma + 2, tokens)
  // The server splits a quoted name at its first dot into database and table.
  if (isText && (token.text === 'system' || token.text.startsWith('system.'))) return
  throw rejection(token, `"${token.text}" is not a system table`)
}

const endsArgument = (index: number, tokens: readonly Token[]): boolean =>
  isPunctuation(tokens[index], ',') || isPunctuation(tokens[index], ')')

const firstComma = (open: number, tokens: readonly Token[]): number | undefined => {
  let depth = 0
  for (let index = open; index < tokens.length; index++) {
    const token = at(tokens, index)
    if (token.kind !== 'sign') continue
    if (token.text === '(' || token.text === '[' || token.text === '{') depth++
    else if (token.text === ')' || token.text === ']' || token.text === '}') depth--
    else if (token.text === ',' && depth === 1) return index
    if (depth === 0) return undefined
  }
  return undefined
}

const constants: ReadonlySet<string> = new Set(['null', 'true', 'false'])

/** Checks the operand of IN: `x IN t` and `x IN (t)` read a table, `x IN (a, b)` and calls do not. */
const checkSet = (index: number, tokens: readonly Token[], ctes: ReadonlySet<number>): void => {
  let first = index + 1
  while (isPunctuation(tokens[first], '(')) first++
  const token = at(tokens, first)
  if (token.kind !== 'name' && token.kind !== 'quoted') return
  if (subqueryKeywords.has(token.word) || constants.has(token.text.toLowerCase())) return
  let end = first + 1
  while (isPunctuation(tokens[end], '.')) end += 2
  if (isPunctuation(tokens[end], '(')) return
  const isAlone = first === index + 1 || isPunctuation(tokens[end], ')') || isLastWithAlias(end, tokens)
  if (isAlone) requireSystemTable(first, tokens, ctes)
}

/** Matches `t AS y)`; in `(t AS y, 1)` the name is a column. */
const isLastWithAlias = (end: number, tokens: readonly Token[]): boolean =>
  at(tokens, end).word === 'AS' && !isPunctuation(tokens[end + 2], ',')
