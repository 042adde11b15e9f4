import { z } from 'zod'
import { rpc } from './contract.ts'
import { hostDataReaders, hostInput } from './host.ts'

/** The part of a chart or table page that is read from the history, and why: the log of the host begins later, or it is unreachable. */
export const HistoryPart = z.object({
  reason: z.enum(['log-start', 'host-unreachable']),
  /** The part in epoch milliseconds. */
  fromMs: z.number(),
  toMs: z.number(),
  /** The end of the recorded samples. */
  lastSampleMs: z.number(),
  /** Times that were never recorded, because the host had deleted its log before; absent from older releases. */
  gaps: z.array(z.object({ fromMs: z.number(), toMs: z.number() })).optional(),
})
export type HistoryPart = z.infer<typeof HistoryPart>

const instant = z.number()

/** The last recorded hour of a host. Lists are empty for callers who may not see queries or logs. */
export const LastHour = z.object({
  /** Whether a history is recorded at all. */
  isEnabled: z.boolean(),
  /** Why the history could not be read; null if it could. */
  problem: z.string().nullable(),
  /** The end of the recorded samples, in epoch milliseconds of the clock of the host; null without samples. */
  lastSampleMs: instant.nullable(),
  /** Samples by minute. Values that the host does not log are null. */
  samples: z.array(
    z.object({
      timeMs: instant,
      cpuCores: z.number().nullable(),
      loadAverage: z.number().nullable(),
      memoryBytes: z.number().nullable(),
      runningQueries: z.number().nullable(),
      failedQueries: z.number().nullable(),
    }),
  ),
  /** Query patterns with the longest total duration. */
  patterns: z.array(
    z.object({
      pattern: z.string(),
      calls: z.number(),
      errors: z.number(),
      durationMs: z.number(),
      peakMemoryBytes: z.number(),
      users: z.array(z.string()),
    }),
  ),
  /** The running queries of the last sample that was taken under pressure. */
  running: z.array(
    z.object({
      timeMs: instant,
      queryId: z.string(),
      user: z.string(),
      elapsedSeconds: z.number(),
      memoryBytes: z.number(),
      pattern: z.string(),
    }),
  ),
  errors: z.array(z.object({ name: z.string(), count: z.number() })),
  lines: z.array(z.object({ timeMs: instant, level: z.string(), logger: z.string(), message: z.string() })),
})
export type LastHour = z.infer<typeof LastHour>

/** Whether a history is recorded, and why its store could not be used last; null if it could. */
export const HistoryState = z.object({ isEnabled: z.boolean(), problem: z.string().nullable() })
export type HistoryState = z.infer<typeof HistoryState>

/** Methods that read the history of hosts. They never contact the host. */
export const historyMethods = {
  historyState: rpc({
    doc: 'Returns whether a history is recorded. It sends no statement.',
    callers: ['gateway'],
    safe: true,
    input: z.object({}),
    output: HistoryState,
  }),
  lastHour: rpc({
    doc: 'Returns the last recorded hour of a host: load, query patterns, errors and log lines.',
    callers: hostDataReaders,
    feature: 'OVERVIEW',
    safe: true,
    input: z.object(hostInput),
    output: LastHour,
  }),
}
