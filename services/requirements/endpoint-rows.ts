import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { parseYaml } from '#shared/config/yaml.ts'

const status = z.int().min(200).max(599)
const RequestSpec = z.strictObject({
  url: z.string().optional(),
  body: z.unknown().optional(),
  headers: z.record(z.string(), z.string()).default({}),
  env: z.record(z.string(), z.string()).default({}),
  /** The bearer token: `key`, `secret`, `none`, or the token itself. */
  bearer: z.string().optional(),
  /** Who sends the request: `user` is a signed-in user. Otherwise the bearer token identifies the caller. */
  as: z.enum(['user', 'none']).optional(),
})

const Row = z.strictObject({
  method: z.enum(['GET', 'POST', 'DELETE', 'OPTIONS']),
  path: z.string(),
  authentication: z.enum(['anonymous', 'read', 'write', 'own-bearer']),
  feature: z.string().optional(),
  counted: z.boolean().default(true),
  /** The variable that sets the rate limit of the endpoint. */
  budget: z.string().default('RATE_LIMIT_API_PER_MIN'),
  unauthenticated: z.tuple([status, status, status]),
  request: RequestSpec.extend({
    /** Whether the request refers to data that an earlier request must create. */
    prepared: z.boolean().default(false),
  }).prefault({}),
  response: z.strictObject({
    status: status.default(200),
    mediaType: z.string().default('application/json'),
    /** JSON paths that the body must contain. */
    has: z.array(z.string()).default([]),
    /** JSON paths that the body must not contain. */
    never: z.array(z.string()).default([]),
    /** The keys of the body, if it must not have others. */
    only: z.array(z.string()).optional(),
    contains: z.array(z.string()).default([]),
    headers: z.record(z.string(), z.string()).default({}),
  }),
  errors: z
    .array(
      RequestSpec.extend({
        when: z.string(),
        /** The query string that is appended to the path. */
        query: z.string().default(''),
        status,
        /** Text that the error message contains. */
        error: z.string().default(''),
      }),
    )
    .default([]),
})

/** The expected behavior of one endpoint of the specification. */
export type EndpointRow = z.infer<typeof Row>
/** The request of a row. */
export type RequestSpec = z.infer<typeof RequestSpec>

/** Returns a row for each endpoint of the specification. */
export const readEndpointRows = (): EndpointRow[] =>
  z.array(Row).parse(parseYaml(readFileSync(join(import.meta.dirname, 'endpoints.yaml'), 'utf8')))
