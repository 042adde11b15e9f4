import { z } from 'zod'
import { mayUseFeature } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Host } from '#proto/host.ts'
import { LastHour } from '#proto/history.ts'
import { hashJson } from '../evidence/recording.ts'
import { shortenWithEllipsis } from '../text/strings.ts'
import { formatInstant } from '../time/format-instant.ts'
import type { Tool, ToolContext, ToolResult } from './tool.ts'

const hourMs = 3_600_000
/** Maximum length of a pattern or a log line, in characters, because a model reads all of them. */
const maxTextLength = 300
const maxLines = 20
const maxChanges = 20

const { samples, patterns, running, errors, lines } = LastHour.shape
const at = { at: z.string() }

/** The last recorded hour of an unreachable host. Load is by minute; log lines and changes are newest first. */
export const RecordedHour = z.object({
  host: z.string(),
  /** Why the host itself was not read. */
  reason: z.string(),
  lastSampleAt: z.string(),
  load: z.array(samples.element.omit({ timeMs: true }).extend(at)),
  queries: patterns,
  running: z.array(running.element.omit({ timeMs: true }).extend(at)),
  errors,
  lines: z.array(lines.element.omit({ timeMs: true }).extend(at)),
  changes: z.array(z.object({ ...at, kind: z.string(), name: z.string(), change: z.string() })),
})
export type RecordedHour = z.infer<typeof RecordedHour>

/** The structured result of a tool that answers from the history. */
export const RecordedResult = z.object({ history: RecordedHour })

/**
 * Runs a tool. If its host is unreachable, the result is the last recorded hour of that host, with the reason and the time
 * of the last sample. The error of a tool that needs the host itself names that time. Without a history, the error is
 * unchanged.
 */
export const runWithHistory = async (
  tool: Pick<Tool, 'kind' | 'run' | 'answersFromHistory'>,
  input: unknown,
  context: ToolContext,
): Promise<ToolResult> => {
  let host: Host | undefined
  const onHost = (found: Host): void => {
    host = found
    context.onHost?.(found)
  }
  try {
    return await tool.run(input, { ...context, onHost })
  } catch (error) {
    const failure = error instanceof ServiceError && tool.kind === 'read' ? error : undefined
    if (!host || !failure) throw error
    const recorded = await readRecordedHour(host, failure, context)
    if (!recorded) throw error
    if (tool.answersFromHistory) return toResult(recorded, host, context)
    throw new ServiceError(
      failure.code,
      `${failure.message}; from history, last sample at ${recorded.lastSampleAt}; get_metrics returns the recorded hour`,
      { ...(failure.details && { details: failure.details }), cause: failure },
    )
  }
}

/** Reads the last recorded hour of a host that did not respond. Returns undefined for other errors and without samples. */
export const readRecordedHour = async (
  host: Host,
  failure: ServiceError,
  context: ToolContext,
): Promise<RecordedHour | undefined> => {
  const { query, call } = context
  if (host.key.startsWith('user:') || !mayUseFeature(call.identity, 'OVERVIEW')) return undefined
  try {
    if (!(await isUnreachable(host, failure, context))) return undefined
    const hour = await query.lastHour({ hostKey: host.key }, call)
    const { lastSampleMs } = hour
    return lastSampleMs === null
      ? undefined
      : toRecordedHour(host, failure.message, { ...hour, lastSampleMs }, await readChanges(host, lastSampleMs, context))
  } catch (error) {
    // The error of the host is more useful than that of the history.
    if (error instanceof ServiceError && !call.signal.aborted) return undefined
    throw error
  }
}

/** Returns whether the host does not respond. A timeout can also have been caused by the statement. */
const isUnreachable = async ({ key }: Host, { details }: ServiceError, context: ToolContext): Promise<boolean> => {
  if (details?.reason === 'unreachable') return true
  if (details?.reason !== 'timeout') return false
  const states = await context.query.hostStates({}, context.call)
  return states.some((state) => state.key === key && state.status === 'down')
}

const readChanges = async (
  { key }: Host,
  lastSampleMs: number,
  { query, call }: ToolContext,
): Promise<RecordedHour['changes']> => {
  if (!mayUseFeature(call.identity, 'METRICS')) return []
  const window = { fromMs: lastSampleMs - hourMs, toMs: lastSampleMs + hourMs }
  const { changes } = await query.objectChanges({ hostKeys: [key], ...window, limit: maxChanges }, call)
  return changes.map(({ atMs, kind, name, change }) => ({ at: formatInstant(atMs), kind, name, change }))
}

const toRecordedHour = (
  { name }: Host,
  reason: string,
  hour: LastHour & { lastSampleMs: number },
  changes: RecordedHour['changes'],
): RecordedHour => ({
  host: name,
  reason,
  lastSampleAt: formatInstant(hour.lastSampleMs),
  load: hour.samples.map(toLoad),
  queries: hour.patterns.map(({ pattern, ...rest }) => ({ ...rest, pattern: shorten(pattern) })),
  running: hour.running.map(({ pattern, ...rest }) => ({ ...withInstant(rest), pattern: shorten(pattern) })),
  errors: hour.errors,
  lines: hour.lines
    .slice(0, maxLines)
    .map(({ message, ...rest }) => ({ ...withInstant(rest), message: shorten(message) })),
  changes,
})

/** Digits of averages; more would only take tokens. */
const precision = 6

const round = (value: number | null): number | null => (value === null ? null : Number(value.toPrecision(precision)))

const toLoad = ({ timeMs, ...values }: LastHour['samples'][number]): RecordedHour['load'][number] => ({
  at: formatInstant(timeMs),
  cpuCores: round(values.cpuCores),
  loadAverage: round(values.loadAverage),
  memoryBytes: round(values.memoryBytes),
  runningQueries: round(values.runningQueries),
  failedQueries: round(values.failedQueries),
})

const shorten = (text: string): string => shortenWithEllipsis(text, maxTextLength)

const withInstant = <T extends { timeMs: number }>({ timeMs, ...rest }: T): Omit<T, 'timeMs'> & { at: string } => ({
  at: formatInstant(timeMs),
  ...rest,
})

const toResult = (history: RecordedHour, { key }: Host, { clock }: ToolContext): ToolResult => {
  const structured = { history }
  const rows = [history.load, history.queries, history.running, history.errors, history.lines, history.changes]
  const evidence = {
    hostKey: key,
    statement: 'lastHour',
    parameters: { source: 'history', lastSampleAt: history.lastSampleAt },
    atMs: clock.now(),
    rows: rows.reduce((sum, { length }) => sum + length, 0),
    rowHash: hashJson(structured),
  }
  return { isError: false, text: describeRecordedHour(history), structured, evidence: [evidence] }
}

/** Returns a summary of the recorded hour, which begins with where it comes from. */
export const describeRecordedHour = ({ host, reason, lastSampleAt, load, ...hour }: RecordedHour): string => {
  const last = load.at(-1)
  const figures = [
    last?.loadAverage != null && `load ${last.loadAverage.toFixed(2)}`,
    last?.cpuCores != null && `${last.cpuCores.toFixed(2)} cores`,
    last?.memoryBytes != null && `memory ${Math.round(last.memoryBytes)} bytes`,
    last?.runningQueries != null && `${last.runningQueries.toFixed(1)} running queries`,
  ].filter(Boolean)
  const counts = [
    `${hour.queries.length} query patterns`,
    `${hour.running.length} running queries sampled under pressure`,
    `${hour.errors.length} kinds of errors`,
    `${hour.lines.length} log lines`,
    `${hour.changes.length} changes`,
  ].join(', ')
  const minute = figures.length > 0 ? ` In its last minute: ${figures.join(', ')}.` : ''
  return `Host unreachable (${reason}); from history, last sample of ${host} at ${lastSampleAt}.${minute} In its last hour: ${counts}.`
}
