import { hash } from 'node:crypto'
import type { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import type { RepldbLogs } from '#proto/repldb-api.ts'
import type { RepldbLogPattern } from '#proto/repldb.ts'
import type { ReplicationServiceClient } from './client.ts'
import { replicationEndpoints } from './endpoints.ts'

type Line = z.output<typeof RepldbLogs>['errors'][number]

const maxPatternLength = 500
const maxMirrors = 20
/** Patterns of variable text, in order. Earlier ones match text that later ones would split. */
const variable = [
  /\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/gi,
  /\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?/g,
  /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`/g,
  /\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b/g,
  /\b[\dA-F]{1,8}\/[\dA-F]{1,8}\b/g,
  /\b0x[\da-f]+\b|\b(?=[a-f]*\d)[\da-f]{12,}\b/gi,
  /\d+(?:\.\d+)?/g,
] as const

/** Returns the pattern of a log line. Ids, times, quoted names, addresses, positions and numbers become `?`. */
export const toLogPattern = (line: string): string =>
  variable
    .reduce((left, each) => left.replaceAll(each, '?'), line)
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, maxPatternLength)

/** Groups log lines by pattern, most frequent first. Equally frequent patterns are sorted by time, latest first. */
export const groupLogLines = (lines: readonly Line[]): RepldbLogPattern[] => {
  const kinds = Map.groupBy(lines, ({ errorType, errorMessage }) => `${errorType}\n${toLogPattern(errorMessage)}`)
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
    mirrors: [...new Set(lines.flatMap(({ flowName }) => flowName || []))].toSorted().slice(0, maxMirrors),
    sample: lines.find(({ errorTimestamp }) => errorTimestamp === lastSeenMs)?.errorMessage ?? '',
  }
}

/** Maximum number of lines to read for patterns and counts. */
const maxLines = 500
const hourMs = 3_600_000

type Lines = z.output<typeof RepldbLogs>

/** Returns the latest lines of one mirror, or of all. */
export const fetchLatestLogLines = (
  service: ReplicationServiceClient,
  { mirror = '', level }: { mirror?: string | undefined; level: string },
  call: CallContext,
): Promise<Lines> => {
  const body = { flowJobName: mirror, level, page: 0, numPerPage: maxLines, beforeId: -1, afterId: -1 }
  return service.callApi(replicationEndpoints.logs, { body }, call)
}

/** Returns the errors of the last hour among the latest lines. */
export const fetchLatestLogErrors = async (
  service: ReplicationServiceClient,
  call: CallContext,
  nowMs: number,
): Promise<Lines['errors']> => {
  const { errors } = await fetchLatestLogLines(service, { level: 'error' }, call)
  return errors.filter(({ errorTimestamp }) => nowMs - errorTimestamp < hourMs)
}

/** Counts errors by mirror. */
export const fetchErrorCounts = async (
  service: ReplicationServiceClient,
  call: CallContext,
  nowMs: number,
): Promise<ReadonlyMap<string, number>> => {
  const lines = await fetchLatestLogErrors(service, call, nowMs)
  return new Map([...Map.groupBy(lines, ({ flowName }) => flowName)].map(([name, those]) => [name, those.length]))
}
