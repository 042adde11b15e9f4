import { checkReadOnly, type StatementPermissions } from '../read-only/read-only.ts'
import { isPunctuation, lex, type Token } from '../read-only/lexer.ts'
import { Rejection } from '../read-only/rejection.ts'

/** A setting of a SETTINGS clause; the value is null unless it is a number, a text or a boolean. */
export interface StatementSetting {
  name: string
  value: string | null
}

/** Maximum number of SETTINGS clauses of one statement: each subquery may have one. */
const maxClauses = 32

/**
 * Replaces the SETTINGS clauses of a statement by spaces, so that positions stay valid, and returns their settings.
 * Statements that are invalid for another reason are returned unchanged.
 */
export const extractSettings = (
  query: string,
  allowed: StatementPermissions = {},
): { query: string; settings: StatementSetting[] } => {
  const settings: StatementSetting[] = []
  let rest = query
  for (let clauses = 0; clauses < maxClauses; clauses++) {
    const position = findSettingsClause(rest, allowed)
    if (position === undefined) break
    const { end, found } = readClause(rest, position)
    settings.push(...found)
    rest = `${rest.slice(0, position)}${' '.repeat(end - position)}${rest.slice(end)}`
  }
  return { query: rest, settings }
}

/** Returns the position of the first SETTINGS clause, as the read-only guard finds it. */
const findSettingsClause = (query: string, allowed: StatementPermissions): number | undefined => {
  try {
    checkReadOnly(query, allowed)
    return undefined
  } catch (error) {
    return error instanceof Rejection && error.reason === 'settings' ? error.position : undefined
  }
}

/** Words that end a SETTINGS clause. */
const wordsAfterSettings = new Set(['UNION', 'EXCEPT', 'INTERSECT', 'FORMAT', 'INTO'])

const readClause = (query: string, position: number): { end: number; found: StatementSetting[] } => {
  const tokens = lex(query)
  const start = tokens.findIndex((token) => token.position === position) + 1
  const found: StatementSetting[] = []
  let index = start
  while (isAssignment(index, tokens)) {
    const end = findValueEnd(index + 2, tokens)
    found.push({
      name: tokens[index]?.text ?? '',
      value: readValue(textBetween(query, tokens[index + 2], tokens[end])),
    })
    index = isPunctuation(tokens[end], ',') ? end + 1 : end
    if (!isPunctuation(tokens[end], ',')) break
  }
  return { end: tokens[index]?.position ?? query.length, found }
}

const isAssignment = (index: number, tokens: readonly Token[]): boolean => isPunctuation(tokens[index + 1], '=')

/** Returns the index of the first token after a value, which may be an array or a map. */
const findValueEnd = (start: number, tokens: readonly Token[]): number => {
  let depth = 0
  for (let index = start; index < tokens.length; index++) {
    const token = tokens[index]
    if (token?.kind === 'sign' && '([{'.includes(token.text)) depth++
    if (token?.kind === 'sign' && ')]}'.includes(token.text) && depth-- === 0) return index
    const isEnd = isPunctuation(token, ',') || isPunctuation(token, ';') || wordsAfterSettings.has(token?.word ?? '')
    if (depth === 0 && isEnd && index > start) return index
  }
  return tokens.length
}

const textBetween = (query: string, first: Token | undefined, after: Token | undefined): string =>
  query.slice(first?.position ?? query.length, after?.position).trim()

const readValue = (text: string): string | null => {
  if (/^(?:-?\d+(?:\.\d+)?|true|false)$/i.test(text)) return text.toLowerCase()
  return /^'[\w .,+-]*'$/.test(text) ? text.slice(1, -1) : null
}

/** Settings that change a plan, and neither limits nor the form of the result. */
const planSettings =
  /^(?:optimize_|query_plan_|use_(?!query_cache)|enable_(?!http|url)|allow_experimental_|force_|join_|parallel_replicas_|prefer_|distributed_|group_by_|merge_tree_|(?:max_threads|max_block_size|max_parallel_replicas|compatibility|final|transform_null_in|allow_push_predicate_when_subquery_contains_with)$)/

/** Divides settings into those that apply to a plan, by name, and the names of all others. */
export const selectPlanSettings = (
  settings: readonly StatementSetting[],
): { applied: Record<string, string>; ignored: string[] } => {
  const isApplied = ({ name, value }: StatementSetting): boolean => value !== null && planSettings.test(name)
  return {
    applied: Object.fromEntries(settings.filter(isApplied).map(({ name, value }) => [name, value ?? ''])),
    ignored: [...new Set(settings.filter((each) => !isApplied(each)).map(({ name }) => name))],
  }
}
