// @module-tag long
import fc from 'fast-check'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'
import { createArbitrary } from '../testing/schema-samples.ts'
import { type OperationKey, type Parameter, readDocument, type ServedDocument } from '../testing/served-document.ts'

/** Values that a caller may send for a parameter. */
const anything = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.constantFrom('', '-1', '1e9', 'null', '%00', "';--", '../..'),
)
const runsOfEach = 12

let product: FakeProduct
let document: ServedDocument

beforeAll(async () => {
  product = await startFakeProduct()
  document = await readDocument(await fetch(`${product.url}/api/v1/openapi.json`))
})
afterAll(() => product[Symbol.asyncDispose]())

describe('every operation of the document', () => {
  it('responds to any input as documented', { timeout: 120_000 }, async () => {
    for (const [path, item] of Object.entries(document.paths)) {
      for (const [method, operation] of Object.entries(item)) {
        await fc.assert(
          fc.asyncProperty(requestOf({ path, method }, operation), async (request) => {
            const answer = await fetch(product.url + addressOf(path, request), {
              method: method.toUpperCase(),
              redirect: 'manual',
              ...(request.body !== undefined && {
                body: JSON.stringify(request.body),
                headers: { 'Content-Type': 'application/json' },
              }),
            })
            await document.expectDocumented({ path, method }, answer)
          }),
          { numRuns: runsOfEach },
        )
      }
    }
  })
})

type Operation = ServedDocument['paths'][string][string]

interface Request {
  path: Record<string, unknown>
  query: Record<string, unknown>
  body: unknown
}

const requestOf = (key: OperationKey, { requestBody }: Operation): fc.Arbitrary<Request> => {
  const parameters = document.parametersOf(key)
  const valuesOf = (place: Parameter['in']) => {
    const those = parameters.filter((parameter) => parameter.in === place)
    const values = those.map(({ name, schema }) => [
      name,
      fc.oneof({ weight: 6, arbitrary: createArbitrary(document.resolve(schema)) }, anything),
    ])
    const always = those.filter(({ required }) => required).map(({ name }) => name)
    return fc.record<Record<string, unknown>>(Object.fromEntries(values), { requiredKeys: always })
  }
  const body = requestBody?.content['application/json']
  return fc.record({
    path: valuesOf('path'),
    query: valuesOf('query'),
    body: body
      ? fc.oneof({ weight: 6, arbitrary: createArbitrary(document.resolve(body.schema)) }, fc.jsonValue())
      : fc.constant(undefined),
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

/** Encodes a path segment. Empty and dot segments are replaced, because clients resolve or drop them. */
const segmentOf = (text: string): string => (/^\.{0,2}$/.test(text) ? '%20' : encodeURIComponent(text))
