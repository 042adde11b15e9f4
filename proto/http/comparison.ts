import { z } from 'zod'
import { ComparedHost, ComparedPattern, comparisonMethods, PatternStatistics } from '../comparison.ts'
import { SettingsDiffHost, maxComparedHosts, SettingRow } from '../settings-diff.ts'
import { UsedWindow } from '../time-window.ts'
import { createResponseSchema } from './response.ts'
import {
  deprecated,
  hostId,
  windowOrderIssue,
  isWindowOrdered,
  timeRangeParameters,
  textParameter,
  deriveIntegerParameter,
  booleanParameter,
} from './parameters.ts'

const hostsSentence = `must be 2 to ${maxComparedHosts} different host ids, separated by commas`
const hostPosition = String.raw`(?:0|[1-9]\d{0,4}|-[1-9]\d{0,9})`

const hostIdsSentence = `must be given 2 to ${maxComparedHosts} times with different host ids`
/** Comma-separated host ids, such as `0,1`. Stored connections of the caller have negative ids. */
const hosts = textParameter
  .regex(new RegExp(`^${hostPosition}(?:,${hostPosition}){1,${maxComparedHosts - 1}}$`), hostsSentence)
  .transform((given) => given.split(',').map(Number))
  .refine((ids) => new Set(ids).size === ids.length, hostsSentence)
  .describe('Positions in the list of hosts, separated by commas.')

const hostIds = z
  .preprocess(
    (given) => (typeof given === 'string' ? [given] : given),
    z
      .array(hostId)
      .min(2, hostIdsSentence)
      .max(maxComparedHosts, hostIdsSentence)
      .refine((ids) => new Set(ids).size === ids.length, hostIdsSentence),
  )
  .describe('Positions in the list of hosts.')

/** The compared hosts: `hostId` several times, or `hosts`. */
const comparedHosts = { hostId: hostIds.optional(), hosts: hosts.optional().meta(deprecated) }
interface ComparedHosts {
  hostId?: number[] | undefined
  hosts?: number[] | undefined
}
const isComparable = ({ hostId, hosts }: ComparedHosts) => (hostId === undefined) !== (hosts === undefined)
const comparedHostsIssue = { path: ['hostId'], message: 'is required 2 or more times, or hosts, but not both' }

/** Id and name of a host in a response, instead of its key. */
const hostIdentity = { id: z.number().int(), name: z.string() }
const byHost = <V extends z.ZodType>(value: V) => z.record(z.string(), value)

/** Query parameters of `GET /api/v1/settings-diff`. */
export const SettingsDiffQuery = z
  .strictObject({
    ...comparedHosts,
    changedOnly: booleanParameter.default(false),
    differentOnly: booleanParameter.default(false),
  })
  .refine(isComparable, comparedHostsIssue)
/**
 * Response of `GET /api/v1/settings-diff`. `values` are keyed by host id, null if the host lacks the setting or
 * returned no data.
 */
export const SettingsDiffResponse = createResponseSchema(
  z.object({
    hosts: z.array(SettingsDiffHost.omit({ hostKey: true }).extend(hostIdentity)),
    rows: z.array(SettingRow.extend({ values: byHost(z.string().nullable()) })),
  }),
  z.object({}),
)

/** `GET /api/v1/compare`. `from` and `to` are epoch seconds and override `lastHours` (default 24). */
export const ComparisonQuery = z
  .strictObject({
    ...comparedHosts,
    ...timeRangeParameters,
    limit: deriveIntegerParameter(comparisonMethods.comparison.input.shape.limit).optional(),
  })
  .refine(isComparable, comparedHostsIssue)
  .refine(isWindowOrdered, windowOrderIssue)
/**
 * Response of `GET /api/v1/compare`. `values` are keyed by host id, null if the pattern did not run or the host
 * returned no data.
 */
export const ComparisonResponse = createResponseSchema(
  z.object({
    hosts: z.array(ComparedHost.omit({ hostKey: true }).extend(hostIdentity)),
    patterns: z.array(ComparedPattern.extend({ values: byHost(PatternStatistics.nullable()) })),
  }),
  z.object({ window: UsedWindow.nullable() }),
)
