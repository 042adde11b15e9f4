import { z } from 'zod'
import type { ZodOpenApiOperationObject, ZodOpenApiParameters, ZodOpenApiResponsesObject } from 'zod-openapi'
import type { Route } from '../../gateway/http-route.ts'
import { type OperationExample, shortenResponse } from './examples.ts'
import { findOperation } from './operation-names.ts'
import { listErrorResponses } from './responses.ts'

/** Returns the OpenAPI operation of a route: parameters, body, responses and examples. */
export const createOperation = (route: Route, example: OperationExample = {}): ZodOpenApiOperationObject => {
  const { id, tag } = findOperation(route)
  return {
    operationId: id,
    summary: toSentence(id),
    description: `${route.doc}.`,
    tags: [tag],
    ...securityOf(route),
    requestParams: { ...pathParameters(route.path), ...queryParameters(route.query) },
    ...headerParameters(route),
    ...(route.body && { requestBody: requestBody(route, route.body, example) }),
    ...(route.reads && { requestBody: bytesOf(route.reads, example) }),
    responses: { ...successResponses(route, example), ...listErrorResponses(route) },
  }
}

/** Returns an operation id as a sentence: `listHosts` is "List hosts". */
const toSentence = (id: string): string => {
  const words = id.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Returns the requirements of a route that differ from those of the document. */
const securityOf = ({ access }: Route): { security?: Record<string, string[]>[] } => {
  if (access === 'anonymous') return { security: [] }
  return access === 'own-bearer' ? { security: [{ operator: [] }] } : {}
}

const queryParameters = (query: z.ZodType): { query?: z.ZodObject } => {
  if (!(query instanceof z.ZodObject)) throw new Error('the query schema of a route must be an object')
  return Object.keys(query.shape).length === 0 ? {} : { query }
}

/** Returns the schema of the path parameters. */
const pathParameters = (path: string): ZodOpenApiParameters => {
  const names = [...path.matchAll(/\{(?<name>\w+)\}/g)].flatMap(({ groups }) => groups?.name ?? [])
  if (names.length === 0) return {}
  return { path: z.object(Object.fromEntries(names.map((name) => [name, segment]))) }
}

const segment = z.string().min(1).max(512)

/**
 * Returns references to the header parameters of a route. Routes for other systems, which send several formats, document
 * `X-Request-Id`; openapi-python-client also needs an optional parameter next to several formats.
 */
const headerParameters = ({ revalidated, path, form, reads }: Route): Pick<ZodOpenApiOperationObject, 'parameters'> => {
  const names = [
    ...(revalidated ? ['IfNoneMatch'] : []),
    ...(path === '/api/events/ingest' ? ['IdempotencyKey'] : []),
    ...(form || (reads && reads.mediaTypes.length > 1) ? ['RequestId'] : []),
  ]
  if (names.length === 0) return {}
  // The library passes references through, but its types do not include them.
  return { parameters: names.map((name) => ({ $ref: `#/components/parameters/${name}` })) as never }
}

const requestBody = ({ form }: Route, schema: z.ZodType, { request }: OperationExample) => {
  const content = { schema, ...(request !== undefined && { example: request }) }
  return {
    required: true,
    content: { 'application/json': content, ...(form && { 'application/x-www-form-urlencoded': { schema } }) },
  }
}

/** Returns a body that the route reads as bytes. Any objects are any value, because generators cannot name their type. */
const bytesOf = ({ mediaTypes, schema: read }: NonNullable<Route['reads']>, { request }: OperationExample) => {
  const isAnyObject = read instanceof z.ZodObject && Object.keys(read.shape).length === 0
  const schema = isAnyObject || read instanceof z.ZodUnion ? z.unknown() : read
  return {
    required: true,
    content: Object.fromEntries(
      mediaTypes.map((type, index) => [
        type,
        { schema, ...(index === 0 && request !== undefined && { example: request }) },
      ]),
    ),
  }
}

const successResponses = (route: Route, { request, response }: OperationExample): ZodOpenApiResponsesObject => {
  const { answer, status = 200, mediaType = 'application/json', downloads = [] } = route
  const further: ZodOpenApiResponsesObject = {
    ...(route.taken !== undefined && { '202': { description: route.taken } }),
    ...(route.nothing !== undefined && { '204': { description: route.nothing } }),
    ...(route.revalidated && { '304': { $ref: '#/components/responses/NotModified' } }),
  }
  if (answer instanceof z.ZodUndefined) return { '302': { $ref: '#/components/responses/Redirect' }, ...further }
  if (answer instanceof z.ZodNever) return further
  const files = downloads.map((type) => [type, { schema: { type: 'string' as const } }])
  // One example is enough for an operation: that of its request, else that of its response.
  const hasRequestExample = request !== undefined && (route.body !== undefined || route.reads !== undefined)
  const hasExample = response !== undefined && !hasRequestExample
  const body = { schema: answer, ...(hasExample && { example: shortenResponse(response) }) }
  return {
    [`${status}`]: {
      description: 'OK',
      // Every response has `X-Request-Id`; the shared responses and the description of the document include it.
      ...(route.revalidated && { headers: { ETag: { $ref: '#/components/headers/ETag' } } }),
      content: { [mediaType.split(';')[0] ?? mediaType]: body, ...Object.fromEntries(files) },
    },
    ...further,
  }
}
