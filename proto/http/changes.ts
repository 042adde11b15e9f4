import { z } from 'zod'
import { maxChanges } from '../changes.ts'
import {
  createIntegerParameter,
  hostId,
  isWindowOrdered,
  textParameter,
  timeRangeParameters,
  windowOrderIssue,
} from './parameters.ts'
import { createResponseSchema } from './response.ts'

/** The kinds of changes of hosts and around them. */
export const changeKinds = [
  'version',
  'restart',
  'settings',
  'schema',
  'access',
  'topology',
  'workload',
  'deployment',
  'alert',
  'action',
] as const
export type ChangeKind = (typeof changeKinds)[number]

/** A change of a host or around it. */
export const ListedChange = z.object({
  atMs: z.number(),
  kind: z.enum(changeKinds),
  /** Null if the change concerns no single host. */
  hostId: z.number().int().nullable(),
  host: z.string().nullable(),
  title: z.string(),
  detail: z.string(),
  /** A unified diff; null if the change has none. Secrets are masked. */
  diff: z.string().nullable(),
  /** A page with more about it: a path, or an external address. */
  href: z.string().nullable(),
})
export type ListedChange = z.infer<typeof ListedChange>

/** Query parameters of `GET /api/v1/changes`, with times in epoch seconds. Without `hostId`, all hosts are listed. */
export const ChangesQuery = z
  .strictObject({
    hostId: hostId.optional(),
    group: textParameter.max(128).optional(),
    kind: z.enum(changeKinds, `must be one of ${changeKinds.join(', ')}`).optional(),
    from: timeRangeParameters.from,
    to: timeRangeParameters.to,
    limit: createIntegerParameter(1, maxChanges).default(100),
  })
  .refine(isWindowOrdered, windowOrderIssue)

/** Response of `GET /api/v1/changes`, newest first. */
export const ChangesResponse = createResponseSchema(
  z.array(ListedChange),
  z.object({
    /** Whether the history records schema, settings, access and topology. */
    isRecorded: z.boolean(),
    /** Sources that could not be read, with the reason. */
    problems: z.array(z.string()),
  }),
)
