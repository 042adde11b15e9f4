import type { z } from 'zod'
import { mayUseFeature } from '#proto/call.ts'
import type { Service, ServiceHandlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { type historyMethods, LastHour } from '#proto/history.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import { readLastSampleMs } from './last-sample.ts'

const hourSeconds = 3_600
const maxPatterns = 10
const maxRunning = 20
const maxErrors = 10
const maxLines = 50

const { samples, patterns, running, errors, lines } = LastHour.shape

const ms = (column: string): string => `toUnixTimestamp(${column}) * 1000`
const average = (metric: string, divisor = 1): string =>
  `sumOrNullIf(sum, metric = '${metric}') / nullIf(sumIf(count, metric = '${metric}'), 0) / ${divisor}`
const recent = 'host = {host:String} AND time >= toDateTime({from:UInt32}) AND time <= toDateTime({until:UInt32})'

const samplesSql = `SELECT ${ms('time')} AS timeMs,
  ${average('ProfileEvent_OSCPUVirtualTimeMicroseconds', 1_000_000)} AS cpuCores,
  ${average('AsynchronousMetric_LoadAverage1')} AS loadAverage,
  ${average('CurrentMetric_MemoryTracking')} AS memoryBytes,
  ${average('CurrentMetric_Query')} AS runningQueries,
  sumOrNullIf(sum, metric = 'ProfileEvent_FailedQuery') AS failedQueries
FROM {table:samples}
WHERE ${recent} AND metric IN ('ProfileEvent_OSCPUVirtualTimeMicroseconds', 'AsynchronousMetric_LoadAverage1', 'CurrentMetric_MemoryTracking', 'CurrentMetric_Query', 'ProfileEvent_FailedQuery')
GROUP BY time ORDER BY time`

const patternsSql = `SELECT any(recorded.pattern) AS pattern, sum(recorded.calls) AS calls, sum(recorded.errors) AS errors, sum(duration_ms) AS durationMs,
  max(peak_memory_bytes) AS peakMemoryBytes, groupUniqArrayArray(20)(recorded.users) AS users
FROM {table:query_patterns} AS recorded WHERE ${recent} AND kind != ''
GROUP BY hash ORDER BY durationMs DESC LIMIT ${maxPatterns}`

const runningSql = `SELECT ${ms('time')} AS timeMs, query_id AS queryId, user, elapsed_seconds AS elapsedSeconds, memory_bytes AS memoryBytes, pattern
FROM {table:running_queries} WHERE ${recent}
ORDER BY time DESC, memory_bytes DESC LIMIT ${maxRunning}`

const errorsSql = `SELECT label AS name, sum(sum) AS count FROM {table:samples} WHERE ${recent} AND metric = 'Error'
GROUP BY name ORDER BY count DESC, name LIMIT ${maxErrors}`

const linesSql = `SELECT ${ms('time')} AS timeMs, level, logger, message
FROM {table:log_lines} WHERE ${recent} AND level != ''
ORDER BY time DESC LIMIT ${maxLines}`

const empty: LastHour = {
  isEnabled: true,
  problem: null,
  lastSampleMs: null,
  samples: [],
  patterns: [],
  running: [],
  errors: [],
  lines: [],
}

type HistoryHandlers = ServiceHandlers<Service<typeof historyMethods>>

/** Returns the handlers that read the history of hosts. */
export const createHistoryHandlers = (parts: QueryHandlerDeps): HistoryHandlers => ({
  historyState: async () => ({ isEnabled: parts.history.isEnabled, problem: parts.history.problem ?? null }),

  async lastHour({ hostKey }, { identity }) {
    const { key } = parts.hosts.get(hostKey)
    if (!parts.history.isEnabled) return { ...empty, isEnabled: false }
    try {
      const lastSampleMs = await readLastSampleMs(parts, key)
      if (lastSampleMs === null) return empty
      const until = lastSampleMs / 1_000
      const parameters = { host: key, from: until - hourSeconds, until }
      const read = <S extends z.ZodType>(sql: string, rows: z.ZodArray<S>, isVisible = true): Promise<z.output<S>[]> =>
        isVisible ? parts.history.select(sql, rows.element, parameters) : Promise.resolve([])
      const seesQueries = mayUseFeature(identity, 'QUERIES')
      return {
        ...empty,
        lastSampleMs,
        samples: await read(samplesSql, samples),
        patterns: await read(patternsSql, patterns, seesQueries),
        running: await read(runningSql, running, seesQueries),
        errors: await read(errorsSql, errors),
        lines: await read(linesSql, lines, mayUseFeature(identity, 'LOGS')),
      }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return { ...empty, problem: error.message }
    }
  },
})
