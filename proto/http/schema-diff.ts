import { z } from 'zod'
import { SchemaDifference, schemaDiffMethods, SchemaStatement } from '../schema-diff.ts'
import { hostId, textParameter, timeRangeParameters } from './parameters.ts'
import { createResponseSchema } from './response.ts'

const group = textParameter
  .min(1, 'must name a group')
  .max(128)
  .describe('A group of hosts, compared as most of its hosts are.')
const time = timeRangeParameters.from

const sideIssue = (side: string) => ({
  path: [`${side}HostId`],
  message: `is required, or ${side}Group, but not both`,
})

/**
 * Query parameters of `GET /api/v1/schema-diff`. The base and the target are a host or a group, now or at a recorded
 * time.
 */
export const SchemaDiffQuery = z
  .strictObject({
    baseHostId: hostId.optional(),
    baseGroup: group.optional(),
    baseTime: time,
    targetHostId: hostId.optional(),
    targetGroup: group.optional(),
    targetTime: time,
    database: textParameter.min(1, 'must name a database').max(256).optional(),
  })
  .refine((query) => (query.baseHostId === undefined) !== (query.baseGroup === undefined), sideIssue('base'))
  .refine((query) => (query.targetHostId === undefined) !== (query.targetGroup === undefined), sideIssue('target'))
  .refine(
    (query) =>
      query.baseHostId !== query.targetHostId ||
      query.baseGroup !== query.targetGroup ||
      query.baseTime !== query.targetTime,
    { path: ['targetHostId'], message: 'must differ from the base in host, group or time' },
  )

/** One side of the diff. */
const Side = z.object({
  hosts: z.array(z.object({ id: z.number().int(), name: z.string() })),
  group: z.string().nullable(),
  /** Epoch milliseconds of the recorded schema; null for the current one. */
  atMs: z.number().nullable(),
  /** Number of compared tables, views and dictionaries. */
  objects: z.number().int().min(0),
})

/** Response of `GET /api/v1/schema-diff`: statements turn the base into the target, and are not executed. */
export const SchemaDiffResponse = createResponseSchema(
  z.object({ differences: z.array(SchemaDifference), statements: z.array(SchemaStatement) }),
  z.object({
    base: Side,
    target: Side,
    ...schemaDiffMethods.schemaDiff.output.pick({ total: true, notes: true }).shape,
  }),
)
