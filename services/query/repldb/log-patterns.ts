import { hash } from 'node:crypto'
import type { z } from 'zod'
import type { RepldbLogPattern } from '#proto/repldb.ts'
import type { RepldbLogs } from '#proto/repldb-api.ts'

type Line = z.output<typeof RepldbLogs>['errors'][number]

const longestPattern = 500
const mostMirrors = 20
/** In this order: what is written first would be taken apart by what follows. */
const variable = [
  /\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/gi,
  /\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?/g,
  /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`/g,
  /\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b/g,
  /\b[\dA-F]{1,8}\/[\dA-F]{1,8}\b/g,
  /\b0x[\da-f]+\b|\b(?=[a-f]*\d)[\da-f]{12,}\b/gi,
  /\d+(?:\.\d+)?/g,
] as const

/** A line without what differs from one to the next of its kind: ids, instants, names in quotes, addresses, positions, numbers. */
export const patternOf = (line: string): string =>
  variable
    .reduce((left, each) => left.replaceAll(each, '?'), line)
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, longestPattern)

/** Lines of one kind together, those of most lines first, and of as many those seen last. */
export const patternsOf = (lines: readonly Line[]): RepldbLogPattern[] => {
  const kinds = Map.groupBy(lines, ({ errorType, errorMessage }) => `${errorType}\n${patternOf(errorMessage)}`)
  const patterns = [...kinds].map(([kind, those]) => describeKind(kind, those))
  return patterns.toSorted((one, other) => other.count - one.count || other.lastSeenMs - one.lastSeenMs)
}

const describeKind = (kind: string, lines: readonly Line[]): RepldbLogPattern => {
  const times = lines.map(({ errorTimestamp }) => errorTimestamp)
  const lastSeenMs = Math.max(...times)
  const [level = '', ...pattern] = kind.split('\n')
  return {
    fingerprint: hash('sha256', kind).slice(0, 16),
    pattern: pattern.join('\n'),
    level,
    count: lines.length,
    firstSeenMs: Math.min(...times),
    lastSeenMs,
    mirrors: [...new Set(lines.flatMap(({ flowName }) => flowName || []))].toSorted().slice(0, mostMirrors),
    sample: lines.find(({ errorTimestamp }) => errorTimestamp === lastSeenMs)?.errorMessage ?? '',
  }
}
