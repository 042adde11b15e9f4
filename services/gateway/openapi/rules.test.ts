import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createDocumentLoader } from './document.ts'

const Schema = z.looseObject({
  $ref: z.string().optional(),
  type: z.string().optional(),
  format: z.string().optional(),
  deprecated: z.boolean().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  allOf: z.array(z.unknown()).optional(),
  anyOf: z.array(z.unknown()).optional(),
})
type Schema = z.infer<typeof Schema>
const Parameter = z.looseObject({
  name: z.string(),
  in: z.string(),
  deprecated: z.boolean().optional(),
  schema: Schema,
})
type Parameter = z.infer<typeof Parameter>
const Content = z.record(z.string(), z.looseObject({ schema: Schema, example: z.unknown().optional() }))
const Reference = z.object({ $ref: z.string() })
const Response = z.looseObject({
  headers: z.record(z.string(), Reference.partial()).optional(),
  content: Content.optional(),
})
const Operation = z.object({
  operationId: z.string(),
  parameters: z.array(z.union([Reference, Parameter])).default([]),
  requestBody: z.object({ content: Content }).optional(),
  responses: z.record(z.string(), z.union([Reference.strict(), Response])),
})
const Document = z.object({
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.object({
    parameters: z.record(z.string(), Parameter),
    responses: z.record(z.string(), Response),
    headers: z.record(z.string(), z.unknown()),
    schemas: z.record(z.string(), Schema),
  }),
})

/** An operation with its components instead of references to them. */
interface ResolvedOperation {
  id: string
  path: string
  parameters: readonly Parameter[]
  request: z.infer<typeof Content>
  responses: readonly (readonly [status: string, response: z.infer<typeof Response>])[]
}

let components: z.infer<typeof Document>['components']
let operations: readonly ResolvedOperation[]

beforeAll(async () => {
  const document = Document.parse(await createDocumentLoader('1.2.3')())
  components = document.components
  operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.values(item).map(({ operationId: id, parameters, requestBody, responses }) => ({
      id,
      path,
      parameters: parameters.map((each) => ('schema' in each ? each : lookUp(components.parameters, each.$ref))),
      request: requestBody?.content ?? {},
      responses: Object.entries(responses).map(([status, each]) => {
        const { $ref } = Reference.partial().parse(each)
        return [status, $ref === undefined ? Response.parse(each) : lookUp(components.responses, $ref)] as const
      }),
    })),
  )
})

const lookUp = <T>(those: Readonly<Record<string, T>>, reference: string): T => {
  const found = those[reference.split('/').at(-1) ?? '']
  if (found === undefined) throw new Error(`the document has no ${reference}`)
  return found
}

const resolve = (given: unknown): Schema => {
  const schema = Schema.parse(given)
  return schema.$ref === undefined ? schema : lookUp(components.schemas, schema.$ref)
}

/** Returns the properties of a schema by name, including those of the components that it extends. */
const propertiesOf = (given: unknown): Record<string, Schema> => {
  const { properties = {}, allOf = [] } = resolve(given)
  const own = Object.entries(properties).map(([name, each]) => [name, Schema.parse(each)] as const)
  return Object.assign({}, ...allOf.map(propertiesOf), Object.fromEntries(own))
}

const jsonResponses = ({ responses }: ResolvedOperation): Schema[] =>
  responses
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { content }]) => {
      const schema = content?.['application/json']?.schema
      return schema === undefined ? [] : [schema]
    })

const currentNames = ({ parameters }: ResolvedOperation): string[] =>
  parameters.filter((each) => each.in === 'query' && each.deprecated !== true).map(({ name }) => name)

/** Returns all fields of components as `Component.field`. */
const listFields = (): [name: string, field: Schema][] =>
  Object.entries(components.schemas).flatMap(([name, schema]) =>
    Object.entries(propertiesOf(schema)).map(([key, field]): [string, Schema] => [`${name}.${key}`, field]),
  )

describe('the envelope of responses', () => {
  /** Operations whose format something else fixes. */
  const exceptions: Readonly<Record<string, string>> = {
    getLiveness: 'the specification: {status, timestamp}',
    getHealth: 'the specification: health including a cloudMode object',
    getVersion: 'the specification: version information including ui',
    getInsightBackend: 'the specification: {backend}',
    getConversationBackend: 'the specification: {backend, supportsAiEnrichment}',
    getCliSignIn: 'the specification: the CLI auth discovery record',
    createApiKey: 'the specification: {data: {apiKey}}',
    requestDeviceCode: 'OAuth, RFC 8628',
    createDeviceCode: 'OAuth, RFC 8628',
    requestToken: 'OAuth, RFC 8628',
    createToken: 'OAuth, RFC 8628',
    getProtectedResource: 'OAuth, RFC 9728',
    getMcpProtectedResource: 'OAuth, RFC 9728',
    sendMcpMessage: 'JSON-RPC, of the Model Context Protocol',
    callMcpTool: 'JSON-RPC, of the Model Context Protocol',
    getMcpServerCard: 'the server card of the Model Context Protocol',
    listAgentSkills: 'the index of the Agent Skills discovery',
    exportDashboard: 'a file that can be imported again',
  }

  it('is {success, data, metadata} except where the specification or a standard fixes another format', () => {
    const others = operations.filter((operation) =>
      jsonResponses(operation).some((schema) => {
        const current = Object.entries(propertiesOf(schema)).filter(([, { deprecated }]) => deprecated !== true)
        return (
          current
            .map(([name]) => name)
            .toSorted()
            .join(' ') !== 'data metadata success'
        )
      }),
    )
    expect(others.map(({ id }) => id).toSorted()).toEqual(Object.keys(exceptions).toSorted())
  })
})

describe('pages of lists', () => {
  it('have a cursor, a limit and the cursor of the next page', () => {
    for (const operation of operations) {
      const names = currentNames(operation)
      const hasNext = jsonResponses(operation).some((schema) => {
        const { metadata, ...rest } = propertiesOf(schema)
        return metadata !== undefined && rest.success !== undefined && 'nextCursor' in propertiesOf(metadata)
      })
      if (!names.includes('cursor')) continue
      expect(names, operation.id).toContain('limit')
      expect(hasNext, operation.id).toBe(true)
    }
  })

  it('have no other current parameters', () => {
    const other = /^(before|after|offset|page|page_?size|per_?page|skip|start)$/i
    const found = operations.flatMap((operation) =>
      currentNames(operation)
        .filter((name) => other.test(name))
        .map((name) => `${operation.id} ${name}`),
    )
    expect(found).toEqual([])
  })
})

describe('hosts', () => {
  it('are selected by the parameter hostId, or by parameters that end with HostId if there are two', () => {
    const found = operations.flatMap((operation) =>
      currentNames(operation)
        .filter((name) => /host/i.test(name) && !/^(hostId|[a-z]+HostId)$/.test(name))
        .map((name) => `${operation.id} ${name}`),
    )
    // The specification: query `host` (not `hostId`).
    expect(found).toEqual(['listFindings host'])
  })

  it('have their position in fields named hostId, and their name in fields named host', () => {
    const isWrong = ([name, { type }]: [string, Schema]): boolean =>
      (name.endsWith('.hostId') && type !== 'integer') || (name.endsWith('.host') && type !== 'string')
    expect(listFields().filter(isWrong)).toEqual([])
  })
})

describe('times', () => {
  it('are date-times; fields that end with Ms are durations or deprecated', () => {
    const found = listFields().filter(
      ([name, { deprecated }]) => deprecated !== true && /(At|Since|Until)Ms$|\.(at|since|until|time)Ms$/.test(name),
    )
    // Clients send the evidence as they received it, and the server reads only this field.
    expect(found.map(([name]) => name)).toEqual(['StoreConversationRequestEvidenceItem.atMs'])
  })

  it('have the format date-time in all fields with such a name', () => {
    const isTime = ([name, { deprecated, anyOf, $ref }]: [string, Schema]) =>
      /([a-z]At|\.at|\.since|\.until)$/.test(name) && deprecated !== true && !anyOf && !$ref
    const found = listFields().filter((field) => isTime(field) && field[1].format !== 'date-time')
    expect(found.map(([name]) => name)).toEqual([
      // The replication service defines these.
      'RepldbMirrorStatus.createdAt',
      'RepldbMirrorsMirror.createdAt',
      // The variable that the build sets; it can contain any text.
      'VersionResponse.builtAt',
    ])
  })

  it('are date-times in parameters', () => {
    const found = operations.flatMap(({ id, parameters }) =>
      parameters
        .filter(({ name, deprecated }) => /^(from|to|since|until)$/.test(name) && deprecated !== true)
        .filter(({ schema }) => schema.format !== 'date-time')
        .map(({ name }) => `${id} ${name}`),
    )
    expect(found).toEqual([])
  })
})

describe('examples', () => {
  it('exist for every operation with a body', () => {
    const found = operations.filter(({ request, responses }) => {
      const successes = responses.filter(([status]) => status.startsWith('2')).map(([, { content }]) => content ?? {})
      const media = [request, ...successes].flatMap((content) => Object.values(content))
      return media.length > 0 && media.every(({ example }) => example === undefined)
    })
    expect(found.map(({ id }) => id)).toEqual([])
  })
})

describe('headers', () => {
  it('of errors are shared components: the request id, the rate limit and when to retry', () => {
    for (const { id, responses } of operations) {
      const { '4XX': clientError } = Object.fromEntries(responses)
      const references = Object.values(clientError?.headers ?? {}).map(({ $ref }) => $ref?.split('/').at(-1))
      expect(references, id).toEqual(
        expect.arrayContaining(['RequestId', 'RetryAfter', 'RateLimit', 'RateRemaining', 'RateReset']),
      )
    }
    expect(Object.keys(components.headers)).toEqual(expect.arrayContaining(['RequestId', 'RateLimit', 'RetryAfter']))
  })

  it('of requests are shared components', () => {
    const found = operations.flatMap(({ id, parameters }) =>
      parameters.filter((each) => each.in === 'header').map(({ name }) => `${name} ${id}`),
    )
    expect(found).toContain('Idempotency-Key ingestEvents')
    const shared = Object.values(components.parameters).filter((each) => each.in === 'header')
    expect(shared.map(({ name }) => name)).toEqual(['If-None-Match', 'X-Request-Id', 'Idempotency-Key'])
  })
})
