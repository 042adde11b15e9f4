import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import { expect } from 'vitest'
import { z } from 'zod'

const Parameter = z.object({
  name: z.string(),
  in: z.enum(['path', 'query']),
  required: z.boolean().optional(),
  schema: z.unknown(),
})
export type Parameter = z.infer<typeof Parameter>
const Content = z.record(z.string(), z.object({ schema: z.unknown() }))
const Operation = z.object({
  operationId: z.string(),
  parameters: z.array(Parameter).default([]),
  requestBody: z.object({ content: Content }).optional(),
  responses: z.record(z.string(), z.looseObject({ $ref: z.string().optional(), content: Content.optional() })),
})
export type Operation = z.infer<typeof Operation>
const Document = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.object({ responses: z.record(z.string(), z.object({ content: Content })) }),
})

/** The OpenAPI document of a running product. */
export interface ServedDocument {
  paths: z.infer<typeof Document>['paths']
  /** Returns the documented statuses of an operation. */
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
  ajv.addSchema(served, 'document')
  const operationAt = ({ path, method }: OperationKey): Operation => {
    const operation = document.paths[path]?.[method]
    if (operation === undefined) throw new Error(`the document has no ${method} ${path}`)
    return operation
  }
  return {
    paths: document.paths,
    statusesOf: (key) => Object.keys(operationAt(key).responses),
    async expectDocumented(key, answer) {
      const operation = operationAt(key)
      const where = `${operation.operationId} ${answer.url.slice(0, 200)}`
      const text = await answer.text()
      const response = operation.responses[String(answer.status)]
      expect(response, `${where} answers ${answer.status}: ${text.slice(0, 300)}`).toBeDefined()
      const pointer = response?.$ref ?? `#/paths/${escaped(key.path)}/${key.method}/responses/${answer.status}`
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

const escaped = (word: string): string => word.replaceAll('~', '~0').replaceAll('/', '~1')
