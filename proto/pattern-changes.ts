import { z } from 'zod'
import { maxHours } from './time-limits.ts'
import { rpc } from './contract.ts'
import { QueryPatternsRequest, QueryPatternSummary } from './fingerprints.ts'
import { hostDataReaders, hostInput } from './host.ts'
import { StatementExecution } from './statement.ts'
import { TimeWindow, UsedWindow } from './time-window.ts'
import { UnavailableReason } from './unavailable-reason.ts'

/** What a pattern is compared by. */
export const patternChangeMeasures = ['p95', 'average', 'total'] as const

/** How a pattern changed between two ranges. */
export const patternChangeKinds = ['slower', 'faster', 'new', 'vanished', 'unchanged'] as const

/** The statistics of a pattern in one range. */
export const RangeStatistics = QueryPatternSummary.pick({
  calls: true,
  totalMs: true,
  averageMs: true,
  p95Ms: true,
  errors: true,
})
export type RangeStatistics = z.infer<typeof RangeStatistics>

/**
 * A pattern in two ranges. `now` is null if it vanished, `before` if it is new. `ratio` is the measure of the shown range
 * divided by that of the compared one; null for new and vanished patterns. Durations below one millisecond count as one,
 * because the query log rounds them to zero.
 */
export const PatternChange = QueryPatternSummary.pick({ hash: true, query: true, kind: true }).extend({
  change: z.enum(patternChangeKinds),
  ratio: z.number().nullable(),
  now: RangeStatistics.nullable(),
  before: RangeStatistics.nullable(),
})
export type PatternChange = z.infer<typeof PatternChange>

/** The ranges, filter and measure of a comparison of query patterns. */
export const PatternChangesRequest = z.object({
  /** How far the compared range is before the shown one, in seconds; by default the length of the range. */
  compareOffset: z
    .number()
    .int()
    .min(60)
    .max(maxHours * 3600)
    .optional(),
  measure: z.enum(patternChangeMeasures).default('p95'),
  ...QueryPatternsRequest.pick({ search: true, user: true, own: true }).shape,
  /** Maximum number of patterns of each kind of change. */
  limit: z.number().int().min(1).max(200).default(50),
})
export type PatternChangesRequest = z.infer<typeof PatternChangesRequest>

/** The method of `query` that compares the query patterns of two ranges. */
export const patternChangeMethods = {
  patternChanges: rpc({
    doc: 'Compares the query patterns of two ranges of equal length: slower, faster, new and vanished ones, by their ratio.',
    callers: hostDataReaders,
    feature: 'QUERIES',
    safe: true,
    prefer: 'hostKey',
    input: z.object({
      ...hostInput,
      ...TimeWindow.pick({ lastHours: true, lastMinutes: true, from: true, to: true }).shape,
      ...PatternChangesRequest.shape,
    }),
    output: z.object({
      /** Slower ones first, then faster, new and vanished ones, each in descending order of the change. */
      changes: z.array(PatternChange),
      /** Number of patterns by kind of change, including those that are not returned. */
      counts: z.object({
        slower: z.number().int(),
        faster: z.number().int(),
        new: z.number().int(),
        vanished: z.number().int(),
        unchanged: z.number().int(),
      }),
      window: UsedWindow,
      compared: UsedWindow,
      unavailable: UnavailableReason.nullable(),
      statement: StatementExecution.nullable(),
    }),
  }),
}
