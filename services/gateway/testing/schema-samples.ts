import fc from 'fast-check'
import { z } from 'zod'
import type { ServiceHandlers, Methods, Service, Stream } from '#proto/contract.ts'

/** The keywords of OpenAPI 3.0 that schemas of the document use. */
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

const maxText = 40
const maxListed = 4

/** Generates values that a schema of the document allows; unbounded values are small. */
export const createArbitrary = (definition: unknown): fc.Arbitrary<unknown> => {
  const schema = Schema.parse(definition ?? {})
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(createArbitrary))
  return ofType[schema.type ?? 'any']?.(schema) ?? fc.jsonValue({ maxDepth: 1 })
}

const ofType: Readonly<Record<string, (schema: Schema) => fc.Arbitrary<unknown>>> = {
  integer: ({ minimum = -1_000_000, maximum = 1_000_000 }) =>
    fc.integer({ min: minimum, max: Math.min(maximum, 2 ** 31) }),
  number: () => fc.double({ noNaN: true, noDefaultInfinity: true }),
  boolean: () => fc.boolean(),
  string: ({ pattern, minLength = 0, maxLength = maxText }) =>
    pattern === undefined
      ? fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, maxText)), unit: 'grapheme' })
      : fc.stringMatching(new RegExp(pattern, 'u')),
  array: ({ items, minItems = 0, maxItems = maxListed }) =>
    fc.array(createArbitrary(items), { minLength: minItems, maxLength: Math.min(maxItems, minItems + maxListed) }),
  object: ({ properties = {}, required = [] }) =>
    fc.record(Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, createArbitrary(schema)])), {
      requiredKeys: required,
    }),
}

const maxSamples = 100

/** Returns a small value that a schema accepts; the same in every run. */
const sampleOf = (schema: z.ZodType): unknown => {
  const values = createArbitrary(z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input', unrepresentable: 'any' }))
  const found = fc.sample(values, { seed: 1, numRuns: maxSamples }).find((value) => schema.safeParse(value).success)
  if (found === undefined) throw new Error('no valid sample found; define the response in the fake')
  return found
}

/** The unary methods of a service. */
type UnaryMethods<M extends Methods> = { [N in keyof M]: M[N] extends Stream ? never : N }[keyof M]

/** Returns handlers for all unary methods of a service; each returns a sample of its output. */
export const createSampleHandlers = <M extends Methods>({ methods }: Service<M>) => {
  const rpcs = Object.entries(methods).filter(([, { kind }]) => kind === 'rpc')
  const handlers = rpcs.map(([name, method]) => [name, async () => 'output' in method && sampleOf(method.output)])
  // Each handler returns a value that its output schema accepts.
  return Object.fromEntries(handlers) as unknown as Pick<ServiceHandlers<Service<M>>, UnaryMethods<M>>
}
