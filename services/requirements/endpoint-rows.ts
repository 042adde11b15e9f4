import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { parseYaml } from '#shared/config/yaml.ts'

const status = z.int().min(200).max(599)
const Asking = z.strictObject({
  url: z.string().optional(),
  body: z.unknown().optional(),
  headers: z.record(z.string(), z.string()).default({}),
  env: z.record(z.string(), z.string()).default({}),
  /** `key`, `secret`, `nothing`, or the text itself. */
  bearer: z.string().optional(),
  /** Whether a person who is signed in asks; else programs do, with a key. */
  as: z.enum(['person', 'nobody']).optional(),
})

const Row = z.strictObject({
  method: z.enum(['GET', 'POST', 'DELETE', 'OPTIONS']),
  path: z.string(),
  authentication: z.enum(['anonymous', 'read', 'write', 'own-bearer']),
  feature: z.string().optional(),
  counted: z.boolean().default(true),
  /** The variable that says how often. */
  budget: z.string().default('RATE_LIMIT_API_PER_MIN'),
  strangers: z.tuple([status, status, status]),
  ask: Asking.extend({
    /** The request is made of what others are answered first. */
    prepared: z.boolean().default(false),
  }).prefault({}),
  answer: z.strictObject({
    status: status.default(200),
    mediaType: z.string().default('application/json'),
    /** Paths into the body that are there. */
    has: z.array(z.string()).default([]),
    never: z.array(z.string()).default([]),
    /** All keys of the body. */
    only: z.array(z.string()).optional(),
    contains: z.array(z.string()).default([]),
    headers: z.record(z.string(), z.string()).default({}),
  }),
  errors: z
    .array(
      Asking.extend({
        when: z.string(),
        /** Added to the path. */
        query: z.string().default(''),
        status,
        /** What its sentence holds. */
        says: z.string().default(''),
      }),
    )
    .default([]),
})

/** What one endpoint of the specification answers. */
export type EndpointRow = z.infer<typeof Row>
/** A request as a row has it. */
export type Asking = z.infer<typeof Asking>

/** A row for each endpoint of the specification. */
export const endpointRows = (): EndpointRow[] =>
  z.array(Row).parse(parseYaml(readFileSync(join(import.meta.dirname, 'endpoints.yaml'), 'utf8')))
