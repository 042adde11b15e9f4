import type { VersionedSql } from '#proto/catalogue.ts'
import { compareVersions } from '../clickhouse/capabilities.ts'
import { argumentOf } from './macros.ts'

/**
 * Expands `$from(24.1, expression, otherwise)` to one statement per version: servers from this version on get the
 * expression, older ones the other. Throws an error for incomplete arguments.
 */
export const expandVersions = (sql: VersionedSql): VersionedSql => {
  if (typeof sql === 'string') return sql.includes('$from') ? expandBranch({ since: '0', sql }) : sql
  return sql.flatMap(expandBranch)
}

type Branch = Exclude<VersionedSql, string>[number]

const expandBranch = ({ since, sql }: Branch): Branch[] => {
  const versions = [...sql.matchAll(/\$from\(\s*([\d.]+)/g)].map(([, version = '']) => version)
  const later = new Set(versions.filter((version) => compareVersions(version, since) > 0))
  return [since, ...later].map((version) => ({ since: version, sql: selectExpressions(sql, version) }))
}

const selectExpressions = (sql: string, serverVersion: string): string => {
  const start = sql.indexOf('$from')
  if (start === -1) return sql
  const rest = sql.slice(start + '$from'.length)
  const argument = argumentOf('from', rest)
  const [version = '', expression, otherwise, ...more] = splitArguments(argument)
  if (!/^\d+\.\d+$/.test(version) || expression === undefined || otherwise === undefined || more.length > 0)
    throw new Error('$from needs a version, an expression, and another one for older servers')
  const selected = compareVersions(version, serverVersion) <= 0 ? expression : otherwise
  return `${sql.slice(0, start)}${selected}${selectExpressions(rest.slice(argument.length + 2), serverVersion)}`
}

/** Splits at the commas outside of parentheses, brackets and quotes. */
export const splitArguments = (text: string): string[] => {
  const parts = ['']
  let depth = 0
  let isQuoted = false
  for (const character of text) {
    if (character === "'") isQuoted = !isQuoted
    if (!isQuoted && '(['.includes(character)) depth++
    if (!isQuoted && ')]'.includes(character)) depth--
    if (character === ',' && depth === 0 && !isQuoted) parts.push('')
    else parts.push(`${parts.pop()}${character}`)
  }
  return parts.map((part) => part.trim())
}
