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
  /** `key`, `secret`, `none`, or the token itself. */
  bearer: z.string().optional(),
  /** Whether a signed-in user sends the request. Otherwise it has the bearer token. */
  as: z.enum(['user', 'none']).optional(),
})

const Row = z.strictObject({
  method: z.enum(['GET', 'POST', 'DELETE', 'OPTIONS']),
  path: z.string(),
  authentication: z.enum(['anonymous', 'read', 'write', 'own-bearer']),
  feature: z.string().optional(),
  counted: z.boolean().default(true),
  /** The variable of its rate limit. */
  budget: z.string().default('RATE_LIMIT_API_PER_MIN'),
  unauthenticated: z.tuple([status, status, status]),
  request: RequestSpec.extend({
    /** Whether the request needs data from the responses to earlier ones. */
    prepared: z.boolean().default(false),
  }).prefault({}),
  response: z.strictObject({
    status: status.default(200),
    mediaType: z.string().default('application/json'),
    /** Paths in the body that must exist. */
    has: z.array(z.string()).default([]),
    /** Paths in the body that must not exist. */
    never: z.array(z.string()).default([]),
    /** All keys of the body. */
    only: z.array(z.string()).optional(),
    contains: z.array(z.string()).default([]),
    headers: z.record(z.string(), z.string()).default({}),
  }),
  errors: z
    .array(
      RequestSpec.extend({
        when: z.string(),
        /** Appended to the path. */
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
/** A request of a row. */
export type RequestSpec = z.infer<typeof RequestSpec>

/** Returns a row for each endpoint of the specification. */
export const endpointRows = (): EndpointRow[] =>
  z.array(Row).parse(parseYaml(readFileSync(join(import.meta.dirname, 'endpoints.yaml'), 'utf8')))
