import { hash } from 'node:crypto'
import type { z } from 'zod'
import type { Call } from '#proto/call.ts'
import type { RepldbLogs } from '#proto/repldb-api.ts'
import type { RepldbLogPattern } from '#proto/repldb.ts'
import type { ReplicationService } from './client.ts'
import { endpoints } from './endpoints.ts'

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

/** Lines that are looked at for patterns and counts. */
const mostLines = 500
const hourMs = 3_600_000

type Lines = z.output<typeof RepldbLogs>

/** The latest lines of one mirror, or of all. */
export const latestLines = (
  service: ReplicationService,
  { mirror = '', level }: { mirror?: string | undefined; level: string },
  call: Call,
): Promise<Lines> => {
  const body = { flowJobName: mirror, level, page: 0, numPerPage: mostLines, beforeId: -1, afterId: -1 }
  return service.ask(endpoints.logs, { body }, call)
}

/** Errors within the last hour, as far as the latest lines tell. */
export const latestErrors = async (
  service: ReplicationService,
  call: Call,
  nowMs: number,
): Promise<Lines['errors']> => {
  const { errors } = await latestLines(service, { level: 'error' }, call)
  return errors.filter(({ errorTimestamp }) => nowMs - errorTimestamp < hourMs)
}

/** How many there are of each mirror. */
export const errorsByMirror = async (
  service: ReplicationService,
  call: Call,
  nowMs: number,
): Promise<ReadonlyMap<string, number>> => {
  const lines = await latestErrors(service, call, nowMs)
  return new Map([...Map.groupBy(lines, ({ flowName }) => flowName)].map(([name, those]) => [name, those.length]))
}
