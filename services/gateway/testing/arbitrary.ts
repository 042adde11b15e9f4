import fc from 'fast-check'
import { z } from 'zod'
import type { Handlers, Methods, Service, Stream } from '#proto/contract.ts'

/** The words of OpenAPI 3.0 that the document uses of a schema. */
const Schema = z.looseObject({
  type: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  anyOf: z.array(z.unknown()).optional(),
  pattern: z.string().optional(),
  format: z.string().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  minItems: z.number().optional(),
  maxItems: z.number().optional(),
  items: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
})
type Schema = z.infer<typeof Schema>

const longestText = 40
const mostItems = 4

/** Values that a schema of the document allows; of those that it does not bound, small ones. */
export const allowed = (given: unknown): fc.Arbitrary<unknown> => {
  const schema = Schema.parse(given ?? {})
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(allowed))
  return ofType[schema.type ?? 'any']?.(schema) ?? fc.jsonValue({ maxDepth: 1 })
}

const ofType: Readonly<Record<string, (schema: Schema) => fc.Arbitrary<unknown>>> = {
  integer: ({ minimum = -1_000_000, maximum = 1_000_000 }) =>
    fc.integer({ min: minimum, max: Math.min(maximum, 2 ** 31) }),
  number: () => fc.double({ noNaN: true, noDefaultInfinity: true }),
  boolean: () => fc.boolean(),
  string: ({ pattern, minLength = 0, maxLength = longestText }) =>
    pattern === undefined
      ? fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, longestText)), unit: 'grapheme' })
      : fc.stringMatching(new RegExp(pattern, 'u')),
  array: ({ items, minItems = 0, maxItems = mostItems }) =>
    fc.array(allowed(items), { minLength: minItems, maxLength: Math.min(maxItems, minItems + mostItems) }),
  object: ({ properties = {}, required = [] }) =>
    fc.record(Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, allowed(schema)])), {
      requiredKeys: required,
    }),
}

const mostSamples = 100

/** The first of some small values that a schema takes, the same each time. */
const sampleOf = (schema: z.ZodType): unknown => {
  const values = allowed(z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input', unrepresentable: 'any' }))
  const found = fc.sample(values, { seed: 1, numRuns: mostSamples }).find((value) => schema.safeParse(value).success)
  if (found === undefined) throw new Error('no sample is valid; say what the fake answers')
  return found
}

/** The methods of a service that have one answer. */
type Answered<M extends Methods> = { [N in keyof M]: M[N] extends Stream ? never : N }[keyof M]

/** Every method with one answer of a service, answered by some value of its contract. */
export const sampledHandlers = <M extends Methods>({ methods }: Service<M>) => {
  const rpcs = Object.entries(methods).filter(([, { kind }]) => kind === 'rpc')
  const handlers = rpcs.map(([name, method]) => [name, async () => 'output' in method && sampleOf(method.output)])
  // Each answers with a value that the schema of its own answer takes.
  return Object.fromEntries(handlers) as unknown as Pick<Handlers<Service<M>>, Answered<M>>
}
