import { ServiceError } from '#proto/errors.ts'
import { isPunctuation, lex, type Token } from './lexer.ts'
import { Rejection } from './rejection.ts'
import { type StatementPermissions, checkReadOnly } from './read-only.ts'

/**
 * Checks a statement of a caller and returns it without its FORMAT clause, because Watchhouse sets the format. The text
 * before the clause is unchanged, so positions in it stay valid. Throws `invalid` with reason and position.
 */
export const checkCallerStatement = (
  query: string,
  check: (tokens: readonly Token[]) => void = () => undefined,
  allowed: StatementPermissions = {},
): string => {
  try {
    checkReadOnly(query, allowed)
    const tokens = lex(query)
    check(tokens)
    return withoutFormat(query, tokens)
  } catch (error) {
    if (!(error instanceof Rejection)) throw error
    const { reason, position, message } = error
    throw new ServiceError('invalid', `query: ${message}`, { details: { parameter: 'query', reason, position } })
  }
}

const withoutFormat = (query: string, tokens: readonly Token[]): string => {
  const last = tokens.findLastIndex(({ text }) => text !== ';')
  const [before, word, name] = tokens.slice(Math.max(0, last - 2), last + 1)
  const end = isFormat(before, word, name) ? word?.position : tokens[last + 1]?.position
  return query.slice(0, end).trimEnd()
}

/** Returns whether a word is a FORMAT clause. In `ORDER BY format DESC` or `SELECT a, format b`, it is a name. */
const isFormat = (before: Token | undefined, word: Token | undefined, name: Token | undefined): boolean => {
  if (word?.word !== 'FORMAT' || (name?.kind !== 'name' && name?.kind !== 'quoted')) return false
  return !isPunctuation(before, ',') && !isPunctuation(before, '.') && !beforeName.has(before?.word ?? '')
}

const beforeName: ReadonlySet<string> = new Set(['SELECT', 'DISTINCT', 'BY', 'FROM', 'JOIN'])
