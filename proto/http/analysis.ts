import { z } from 'zod'
import { intervals } from '../catalogue.ts'
import { ExplainMode, explainModes, ExplainSettings, Explanation, maxExplainStatementLength } from '../explain.ts'
import { QueryPatternHash, queryPatternOrders } from '../fingerprints.ts'
import { patternChangeMeasures } from '../pattern-changes.ts'
import { query, StatementExecution } from '../query.ts'
import { QueryId } from '../query-detail.ts'
import { createResponseSchema } from './response.ts'
import {
  windowOrderIssue,
  bodyHostId,
  createCursorParameter,
  deprecated,
  isGivenOnce,
  isWindowOrdered,
  hostId,
  timeRangeParameters,
  textParameter,
  TimeZone,
  createIntegerParameter,
  deriveIntegerParameter,
  booleanParameter,
} from './parameters.ts'

const { fingerprints, fingerprint, executions, patternChanges, queryDetail } = query.methods
const shortText = textParameter.max(256, 'must not be longer than 256 characters').optional()

/**
 * `GET /api/v1/insights/query-patterns`. `from` and `to` override `lastHours` (default 24).
 * `own=1` includes queries of the product itself.
 */
export const QueryPatternsQuery = z
  .strictObject({
    hostId: hostId.default(0),
    ...timeRangeParameters,
    order: z.enum(queryPatternOrders, `must be one of ${queryPatternOrders.join(', ')}`).optional(),
    search: shortText,
    user: shortText,
    own: booleanParameter.optional(),
    limit: deriveIntegerParameter(fingerprints.input.shape.limit).optional(),
    offset: deriveIntegerParameter(fingerprints.input.shape.offset).optional().meta(deprecated),
    cursor: createCursorParameter(deriveIntegerParameter(fingerprints.input.shape.offset)).optional(),
  })
  .refine(isWindowOrdered, windowOrderIssue)
  .refine(({ cursor, offset }) => isGivenOnce(cursor, offset), {
    path: ['cursor'],
    message: 'and offset are mutually exclusive',
  })

/** Response of `GET /api/v1/insights/query-patterns`; `metadata.total` is the number of patterns. */
export const QueryPatternsResponse = createResponseSchema(
  fingerprints.output.shape.fingerprints,
  StatementExecution.partial().extend({
    ...fingerprints.output.pick({ total: true, window: true, unavailable: true }).shape,
    nextCursor: z.string().nullable(),
  }),
)

/** Query parameters of `GET /api/v1/insights/query-patterns/{hash}`. */
export const QueryPatternQuery = z
  .strictObject({
    hostId: hostId.default(0),
    ...timeRangeParameters,
    interval: z.enum(intervals, `must be one of ${intervals.join(', ')}`).optional(),
    timezone: TimeZone.optional(),
    executions: deriveIntegerParameter(fingerprint.input.shape.executions).optional(),
  })
  .refine(isWindowOrdered, windowOrderIssue)
/** Path parameters of requests about one query pattern. */
export const QueryPatternPath = z.object({ hash: QueryPatternHash })

/**
 * Response of `GET /api/v1/insights/query-patterns/{hash}`. If `data` is null, `metadata.unavailable` has the reason.
 */
export const QueryPatternResponse = createResponseSchema(
  fingerprint.output.shape.detail,
  z.object({ host: z.string(), ...fingerprint.output.omit({ detail: true }).shape }),
)

/**
 * `GET /api/v1/insights/query-pattern-changes`. The compared range is as long as the shown one, and `compareOffset` seconds
 * earlier; by default directly before it.
 */
export const QueryPatternChangesQuery = z
  .strictObject({
    hostId: hostId.default(0),
    ...timeRangeParameters,
    compareOffset: deriveIntegerParameter(patternChanges.input.shape.compareOffset).optional(),
    measure: z.enum(patternChangeMeasures, `must be one of ${patternChangeMeasures.join(', ')}`).optional(),
    search: shortText,
    user: shortText,
    own: booleanParameter.optional(),
    limit: deriveIntegerParameter(patternChanges.input.shape.limit).optional(),
  })
  .refine(isWindowOrdered, windowOrderIssue)

/** Response of `GET /api/v1/insights/query-pattern-changes`; `metadata.counts` has the number of each kind of change. */
export const QueryPatternChangesResponse = createResponseSchema(
  patternChanges.output.shape.changes,
  StatementExecution.partial().extend(
    patternChanges.output.pick({ counts: true, window: true, compared: true, unavailable: true }).shape,
  ),
)

const maxDurationMs = 1_000_000_000
/**
 * `GET /api/v1/insights/query-patterns/{hash}/executions`, with durations from `minMs` up to, but not including,
 * `maxMs`.
 */
export const ExecutionsQuery = z
  .strictObject({
    hostId: hostId.default(0),
    ...timeRangeParameters,
    minMs: createIntegerParameter(0, maxDurationMs).optional(),
    maxMs: createIntegerParameter(1, maxDurationMs).optional(),
    limit: deriveIntegerParameter(executions.input.shape.limit).optional(),
  })
  .refine(isWindowOrdered, windowOrderIssue)
/**
 * Response of `GET /api/v1/insights/query-patterns/{hash}/executions`, longest first; `metadata.total` is their number.
 */
export const ExecutionsResponse = createResponseSchema(
  executions.output.shape.executions,
  z.object({ host: z.string(), ...executions.output.omit({ executions: true }).shape }),
)

/** `GET /api/v1/queries/{queryId}`; `lastHours` defaults to two weeks. */
export const QueryDetailQuery = z.strictObject({
  hostId: hostId.default(0),
  lastHours: deriveIntegerParameter(queryDetail.input.shape.lastHours).optional(),
})
/** Path parameters of `GET /api/v1/queries/{queryId}`. */
export const QueryDetailPath = z.object({ queryId: QueryId })
/** Response of `GET /api/v1/queries/{queryId}`. If `data` is null, `metadata.unavailable` has the reason. */
export const QueryDetailResponse = createResponseSchema(
  queryDetail.output.shape.detail,
  z.object({ host: z.string(), ...queryDetail.output.omit({ detail: true }).shape }),
)

/** An `EXPLAIN` mode in any case, with spaces or underscores for dashes, such as `QUERY TREE`; `plan` if empty. */
const Mode = z
  .string({ error: 'must be text, given once' })
  .transform((word) => word.toLowerCase().replace(/[ _]/g, '-') || 'plan')
  .pipe(z.enum(explainModes, `must be one of ${explainModes.join(', ')}`))
  .pipe(ExplainMode)
const Database = z
  .string({ error: ({ code }) => (code === 'invalid_type' ? 'must be text, given once' : undefined) })
  .min(1)
  .max(128)
  .optional()

/** Maximum length of a statement in a URL. Longer statements must be sent by POST. */
const maxAddressStatement = 8_000
const maxAddressSettings = 2_048
const settingsSentence = 'must be a JSON object of settings, each 0, 1, true or false'

const JsonSettings = textParameter
  .max(maxAddressSettings, `must not be longer than ${maxAddressSettings} characters`)
  .transform((json, context): unknown => {
    try {
      return JSON.parse(json)
    } catch {
      context.addIssue({ code: 'custom', message: settingsSentence })
      return z.NEVER
    }
  })
  .pipe(ExplainSettings)

/** Query parameters of `GET /api/v1/explain`; `planSettings` is a JSON object. */
export const ExplainQuery = z.strictObject({
  hostId: hostId.default(0),
  query: textParameter.max(
    maxAddressStatement,
    `must not be longer than ${maxAddressStatement} characters; send it by POST`,
  ),
  mode: Mode.optional(),
  planSettings: JsonSettings.optional(),
  database: Database,
})

/** Body of `POST /api/v1/explain`. */
export const ExplainRequest = z.strictObject({
  hostId: bodyHostId.default(0),
  query: z.string().max(maxExplainStatementLength, `must not be longer than ${maxExplainStatementLength} characters`),
  mode: Mode.optional(),
  planSettings: ExplainSettings.optional(),
  database: Database,
})

/** Response of `GET` and `POST /api/v1/explain`. */
export const ExplainResponse = createResponseSchema(Explanation, z.object({ host: z.string() }))
