import { afterColumn, firstWords, guardedWords, type Keyword, writingWords } from './keywords.ts'
import { lex, type Token } from './lexer.ts'
import { isRefusedFunction } from './names.ts'
import { Rejection } from './rejection.ts'
import { checkSources } from './sources.ts'

/** Longest statement that is looked at, in characters. */
const longestStatement = 100_000

/**
 * Throws a `Rejection` unless the text is one statement that only reads from this host.
 * A second fence: whoever runs it still sets `readonly=1` and limits, which the host itself enforces.
 */
export const checkReadOnly = (sql: string): void => {
  if (sql.length > longestStatement) {
    throw new Rejection('too-long', longestStatement, `longer than ${longestStatement} characters`)
  }
  const tokens = oneStatement(lex(sql))
  checkFirstWord(tokens)
  tokens.forEach((token, index) => checkToken(token, index, tokens))
  checkSources(tokens)
}

const oneStatement = (tokens: readonly Token[]): readonly Token[] => {
  const last = tokens.findLastIndex((token) => !isSign(token, ';'))
  const statement = last === tokens.length - 1 ? tokens : tokens.slice(0, last + 1)
  for (const token of statement) {
    if (isSign(token, ';')) throw new Rejection('several-statements', token.position, 'send one statement at a time')
  }
  if (statement.length === 0) throw new Rejection('empty', 0, 'there is no statement')
  return statement
}

const checkFirstWord = ([first]: readonly Token[]): void => {
  if (first && firstWords.has(first.word)) return
  throw new Rejection('first-word', first?.position ?? 0, `must begin with ${[...firstWords].join(', ')}`)
}

const checkToken = (token: Token, index: number, tokens: readonly Token[]): void => {
  if (token.word !== '' && guardedWords.has(token.word) && !isSign(tokens[index - 1], '.'))
    checkWord(token, index, tokens)
  else if (isSign(token, '(')) checkFunction(tokens[index - 1])
}

const checkWord = (token: Token, index: number, tokens: readonly Token[]): void => {
  const { word } = token
  const next = tokens[index + 1]
  const isRounding = word === 'TRUNCATE' && isSign(next, '(')
  if (writingWords.has(word) && !isRounding) {
    throw new Rejection(
      'write',
      token.position,
      `${word} changes data or the server; only reading is allowed (a name is written in quotes)`,
    )
  }
  if (word === 'SYSTEM' && !isSign(next, '.') && next?.kind === 'name' && systemVerbs.test(next.text)) {
    throw new Rejection('write', token.position, 'SYSTEM statements change the server; only reading is allowed')
  }
  if (word === 'INTO' && isWord(next, 'OUTFILE')) {
    throw new Rejection('output', token.position, 'INTO OUTFILE writes a file; the rows are answered instead')
  }
  if (word === 'PARALLEL' && isWord(next, 'WITH')) {
    throw new Rejection('several-statements', token.position, 'PARALLEL WITH joins statements; send one at a time')
  }
  if (word === 'SETTINGS' && isClause(next, tokens[index + 2])) {
    throw new Rejection('settings', token.position, 'a SETTINGS clause is not allowed; limits are set for you')
  }
}

/** Any word but an operator may be the verb of a SYSTEM statement: new ones keep coming. */
const systemVerbs =
  /^(?!(?:AS|FROM|IN|NOT|LIKE|ILIKE|IS|AND|OR|DESC|ASC|BETWEEN|WHERE|GROUP|ORDER|LIMIT|ON|USING|JOIN|INNER|LEFT|FINAL)$)/i

const isClause = (next: Token | undefined, afterNext: Token | undefined): boolean => {
  if (next === undefined || (next.kind !== 'name' && next.kind !== 'quoted')) return false
  if (isSign(afterNext, '=')) return true
  return next.kind === 'quoted' || !afterColumn.has(next.word)
}

const checkFunction = (token: Token | undefined): void => {
  if (token?.kind !== 'name' && token?.kind !== 'quoted') return
  if (isRefusedFunction(token.text.toLowerCase())) {
    throw new Rejection(
      'function',
      token.position,
      `${token.text}() is not allowed: it reaches beyond this host's tables, or only takes its time`,
    )
  }
}

const isSign = (token: Token | undefined, text: string): boolean => token?.kind === 'sign' && token.text === text
const isWord = (token: Token | undefined, word: Keyword): boolean => token?.word === word
