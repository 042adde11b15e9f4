// @module-tag long
import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type FakeProduct, startFake } from '../testing/start.ts'
import { allowed } from '../testing/arbitrary.ts'

const Parameter = z.object({
  name: z.string(),
  in: z.enum(['path', 'query']),
  required: z.boolean().optional(),
  schema: z.unknown(),
})
type Parameter = z.infer<typeof Parameter>
const Content = z.record(z.string(), z.object({ schema: z.unknown() }))
const Operation = z.object({
  operationId: z.string(),
  parameters: z.array(Parameter).default([]),
  requestBody: z.object({ content: Content }).optional(),
  responses: z.record(z.string(), z.looseObject({ $ref: z.string().optional(), content: Content.optional() })),
})
const Document = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.object({ responses: z.record(z.string(), z.object({ content: Content })) }),
})

/** Whatever a caller may write where a value belongs. */
const anything = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.constantFrom('', '-1', '1e9', 'null', '%00', "';--", '../..'),
)
const runsOfEach = 12

let product: FakeProduct
let document: z.infer<typeof Document>
const ajv = formats.default(new Ajv({ strict: false, validateSchema: false }))

beforeAll(async () => {
  product = await startFake({ env: { SVC_REQUEST_TIMEOUT_MS: '5000' } })
  const told: object = Object(await (await fetch(`${product.url}/api/v1/openapi.json`)).json())
  document = Document.parse(told)
  ajv.addSchema(told, 'document')
})
afterAll(() => product[Symbol.asyncDispose]())

describe('every operation of the document', () => {
  it('answers whatever it is sent as the document says', { timeout: 120_000 }, async () => {
    for (const [path, item] of Object.entries(document.paths)) {
      for (const [method, operation] of Object.entries(item)) {
        await fc.assert(
          fc.asyncProperty(requestOf(operation), async (request) => {
            const answer = await fetch(product.url + addressOf(path, request), {
              method: method.toUpperCase(),
              redirect: 'manual',
              ...(request.body !== undefined && {
                body: JSON.stringify(request.body),
                headers: { 'Content-Type': 'application/json' },
              }),
            })
            await expectTold({ path, method, operation }, answer)
          }),
          { numRuns: runsOfEach },
        )
      }
    }
  })
})

interface Request {
  path: Record<string, unknown>
  query: Record<string, unknown>
  body: unknown
}

const requestOf = ({ parameters, requestBody }: z.infer<typeof Operation>): fc.Arbitrary<Request> => {
  const valuesOf = (place: Parameter['in']) => {
    const those = parameters.filter((parameter) => parameter.in === place)
    const values = those.map(({ name, schema }) => [
      name,
      fc.oneof({ weight: 6, arbitrary: allowed(schema) }, anything),
    ])
    const always = those.filter(({ required }) => required).map(({ name }) => name)
    return fc.record<Record<string, unknown>>(Object.fromEntries(values), { requiredKeys: always })
  }
  const body = requestBody?.content['application/json']
  return fc.record({
    path: valuesOf('path'),
    query: valuesOf('query'),
    body: body ? fc.oneof({ weight: 6, arbitrary: allowed(body.schema) }, fc.jsonValue()) : fc.constant(undefined),
  })
}

const addressOf = (path: string, request: Request): string => {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => segmentOf(String(request.path[name])))
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(request.query)) {
    for (const each of [value].flat()) query.append(name, String(each))
  }
  return query.size === 0 ? filled : `${filled}?${query}`
}

/** A client would resolve a segment of dots, and an empty one is another path. */
const segmentOf = (text: string): string => (/^\.{0,2}$/.test(text) ? '%20' : encodeURIComponent(text))

interface Asked {
  path: string
  method: string
  operation: z.infer<typeof Operation>
}

const expectTold = async ({ path, method, operation }: Asked, answer: Response): Promise<void> => {
  const where = `${operation.operationId} ${answer.url.slice(product.url.length, product.url.length + 200)}`
  const text = await answer.text()
  const told = operation.responses[String(answer.status)]
  expect(told, `${where} answers ${answer.status}: ${text.slice(0, 300)}`).toBeDefined()
  const pointer = told?.$ref ?? `#/paths/${escaped(path)}/${method}/responses/${answer.status}`
  const content = told?.$ref ? document.components.responses[told.$ref.split('/').at(-1) ?? '']?.content : told?.content
  if (content === undefined) return
  const mediaType = (answer.headers.get('content-type') ?? '').split(';')[0] ?? ''
  expect(Object.keys(content), where).toContain(mediaType)
  if (!/[/+]json$/.test(mediaType)) return
  const validate = ajv.getSchema(`document${pointer}/content/${escaped(mediaType)}/schema`)
  expect(
    validate?.(JSON.parse(text)),
    `${where} ${answer.status} ${ajv.errorsText(validate?.errors)} ${text.slice(0, 300)}`,
  ).toBe(true)
}

const escaped = (word: string): string => word.replaceAll('~', '~0').replaceAll('/', '~1')
