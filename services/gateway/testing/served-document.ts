import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import { expect } from 'vitest'
import { z } from 'zod'

const Parameter = z.object({
  name: z.string(),
  in: z.enum(['path', 'query', 'header']),
  required: z.boolean().optional(),
  schema: z.unknown(),
})
const Reference = z.object({ $ref: z.string() })
export type Parameter = z.infer<typeof Parameter>
const Content = z.record(z.string(), z.object({ schema: z.unknown() }))
const Operation = z.object({
  operationId: z.string(),
  parameters: z.array(z.union([Parameter, Reference])).default([]),
  requestBody: z.object({ content: Content }).optional(),
  responses: z.record(z.string(), z.looseObject({ $ref: z.string().optional(), content: Content.optional() })),
})
type Operation = z.infer<typeof Operation>
const Document = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.object({
    parameters: z.record(z.string(), Parameter),
    responses: z.record(z.string(), z.object({ content: Content.optional() })),
    schemas: z.record(z.string(), z.record(z.string(), z.unknown())),
  }),
})

/** The OpenAPI document of a running product. */
export interface ServedDocument {
  paths: z.infer<typeof Document>['paths']
  /** Returns the parameters of an operation. */
  parametersOf(key: OperationKey): Parameter[]
  /** Returns a schema with its components instead of references to them. */
  resolve(schema: unknown): unknown
  /** Returns the documented statuses of an operation, which can be ranges such as `4XX`. */
  statusesOf(key: OperationKey): string[]
  /**
   * Fails unless the document describes the status, media type and body of a response. Returns the body as text.
   */
  expectDocumented(key: OperationKey, answer: Response): Promise<string>
}

/** An operation: its path template, and its method in lower case. */
export interface OperationKey {
  path: string
  method: string
}

/** Parses a response of `GET /api/v1/openapi.json`. */
export const readDocument = async (response: Response): Promise<ServedDocument> => {
  const served: object = Object(await response.json())
  const document = Document.parse(served)
  const ajv = formats.default(new Ajv({ strict: false, validateSchema: false }))
  const schemas = document.components.schemas
  const merged = JSON.parse(JSON.stringify(served), (_key, value: unknown) => mergeVariants(value, schemas))
  ajv.addSchema(JSON.parse(JSON.stringify(merged), toStrictSchema), 'document')
  const operationAt = ({ path, method }: OperationKey): Operation => {
    const operation = document.paths[path]?.[method]
    if (operation === undefined) throw new Error(`the document has no ${method} ${path}`)
    return operation
  }
  return {
    paths: document.paths,
    parametersOf: (key) =>
      operationAt(key).parameters.map((parameter) => {
        if (!('$ref' in parameter)) return parameter
        const found = document.components.parameters[parameter.$ref.split('/').at(-1) ?? '']
        if (found === undefined) throw new Error(`the document has no ${parameter.$ref}`)
        return found
      }),
    resolve: (schema) => resolveReferences(schema, document.components.schemas, maxNesting),
    statusesOf: (key) => Object.keys(operationAt(key).responses),
    async expectDocumented(key, answer) {
      const operation = operationAt(key)
      const where = `${operation.operationId} ${answer.url.slice(0, 200)}`
      const text = await answer.text()
      const status = findStatus(operation, answer.status)
      const response = operation.responses[status]
      expect(response, `${where} answers ${answer.status}: ${text.slice(0, 300)}`).toBeDefined()
      const pointer = response?.$ref ?? `#/paths/${escaped(key.path)}/${key.method}/responses/${status}`
      const name = response?.$ref?.split('/').at(-1) ?? ''
      const content = response?.$ref ? document.components.responses[name]?.content : response?.content
      if (content === undefined) {
        expect(text, where).toBe('')
        return text
      }
      const mediaType = (answer.headers.get('content-type') ?? '').split(';')[0] ?? ''
      expect(Object.keys(content), where).toContain(mediaType)
      if (!/[/+]json$/.test(mediaType)) return text
      const validate = ajv.getSchema(`document${pointer}/content/${escaped(mediaType)}/schema`)
      const isValid = validate?.(JSON.parse(text))
      expect(isValid, `${where} ${answer.status} ${ajv.errorsText(validate?.errors)} ${text.slice(0, 300)}`).toBe(true)
      return text
    },
  }
}

/** Maximum nesting of resolved references, because schemas can refer to themselves. */
const maxNesting = 6

/** Returns a schema with the referenced schemas instead of references, also of those next to other keywords. */
const resolveReferences = (value: unknown, schemas: Readonly<Record<string, unknown>>, depth: number): unknown => {
  if (Array.isArray(value)) return value.map((each) => resolveReferences(each, schemas, depth))
  if (typeof value !== 'object' || value === null) return value
  const reference = Reference.safeParse(value)
  if (reference.success) {
    const name = reference.data.$ref.split('/').at(-1) ?? ''
    return depth === 0 ? {} : resolveReferences(schemas[name], schemas, depth - 1)
  }
  const entries = Object.entries(value).map(([key, each]) => [key, resolveReferences(each, schemas, depth)] as const)
  const { allOf, ...rest } = Object.fromEntries(entries)
  return Array.isArray(allOf) ? Object.assign({}, ...allOf, rest) : rest
}

/** Returns the documented status or range of a status. */
const findStatus = ({ responses }: Operation, status: number): string =>
  String(status) in responses ? String(status) : `${Math.floor(status / 100)}XX`

/** Returns a schema that extends a component as one schema, so that it can reject undocumented fields. */
const mergeVariants = (value: unknown, schemas: Readonly<Record<string, unknown>>): unknown => {
  const extended = Extension.safeParse(value)
  if (!extended.success) return value
  const [{ $ref }, own] = extended.data.allOf
  const { properties, required, ...base } = ObjectSchema.parse(schemas[$ref.split('/').at(-1) ?? ''])
  return {
    ...base,
    properties: { ...properties, ...own.properties },
    required: [...required, ...own.required],
  }
}

const ObjectSchema = z.looseObject({
  type: z.literal('object'),
  properties: z.record(z.string(), z.unknown()),
  required: z.array(z.string()).default([]),
})
const Extension = z.strictObject({ allOf: z.tuple([Reference, ObjectSchema]) })

/**
 * Returns a schema without undocumented fields of objects, although clients must expect those of later releases.
 */
const toStrictSchema = (_key: string, value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  const isObject = 'type' in value && value.type === 'object' && 'properties' in value
  return isObject && !('additionalProperties' in value) ? { ...value, additionalProperties: false } : value
}

const escaped = (word: string): string => word.replaceAll('~', '~0').replaceAll('/', '~1')
