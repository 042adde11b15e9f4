import { z } from 'zod'
import type { ZodOpenApiOperationObject, ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi'
import { ErrorResponse } from '#proto/http/response.ts'
import { OAuthErrorResponse } from '#proto/http/auth.ts'
import type { Route } from '../http-route.ts'

/** Returns the OpenAPI operation of a route: parameters, responses and every error. */
export const createOperation = (route: Route): ZodOpenApiOperationObject => ({
  operationId: operationId(route),
  summary: route.doc,
  tags: [getRouteTag(route)],
  security: securityOf(route),
  requestParams: { ...pathParameters(route.path), ...queryParameters(route.query) },
  ...(route.body && { requestBody: requestBody(route, route.body) }),
  ...(route.reads && { requestBody: bytesOf(route.reads) }),
  responses: {
    ...successResponses(route),
    ...(route.taken !== undefined && { '202': { description: route.taken } }),
    ...(route.nothing !== undefined && { '204': { description: route.nothing } }),
    ...(route.revalidated && {
      '304': { description: 'The response with the ETag in If-None-Match is still current.' },
    }),
    ...createErrorReferences(route),
  },
})

/**
 * Returns the operation id: `getChartsByName` for `GET /api/v1/charts/{name}`. Paths outside /api get the prefix
 * `Root`, because some exist below /api too.
 */
const operationId = ({ method, path }: Route): string => {
  const words = path.split('/').flatMap((segment) => {
    if (['', 'api', 'v1'].includes(segment)) return []
    const parameter = /^\{(?<name>\w+)\}$/.exec(segment)?.groups?.name
    return parameter === undefined ? segment.split(/[-._]/) : ['by', parameter]
  })
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  return `${method.toLowerCase()}${path.startsWith('/api/') ? '' : 'Root'}${name}`
}

/** Returns the tag of a route: its first path segment after `/api/v1`. */
export const getRouteTag = ({ path }: Route): string =>
  path.split('/').find((segment) => !['', 'api', 'v1', '.well-known'].includes(segment)) ?? 'service'

const securityOf = ({ access }: Route): Record<string, string[]>[] => {
  if (access === 'anonymous') return []
  if (access === 'own-bearer') return [{ operator: [] }]
  // The last, empty entry allows anonymous calls, which depends on the configuration.
  return [{ bearer: [] }, { apiKey: [] }, { keyCookie: [] }, { session: [] }, {}]
}

const queryParameters = (query: z.ZodType): { query?: z.ZodObject } => {
  if (!(query instanceof z.ZodObject)) throw new Error('the query schema of a route must be an object')
  return Object.keys(query.shape).length === 0 ? {} : { query }
}

const requestBody = ({ form }: Route, schema: z.ZodType) => ({
  required: true,
  content: {
    'application/json': { schema },
    ...(form && { 'application/x-www-form-urlencoded': { schema } }),
  },
})

const bytesOf = ({ mediaTypes, schema }: NonNullable<Route['reads']>) => ({
  required: true,
  content: Object.fromEntries(mediaTypes.map((type) => [type, { schema }])),
})

const successResponses = ({
  answer,
  status = 200,
  mediaType = 'application/json',
  downloads = [],
}: Route): ZodOpenApiResponsesObject => {
  if (answer instanceof z.ZodUndefined) {
    return {
      '302': { description: 'Redirects a browser.', headers: { Location: { schema: { type: 'string' } } } },
    }
  }
  if (answer instanceof z.ZodNever) return {}
  const files = downloads.map((type) => [type, { schema: { type: 'string' as const } }])
  return {
    [`${status}`]: {
      description: 'The response.',
      content: { [withoutParameters(mediaType)]: { schema: answer }, ...Object.fromEntries(files) },
    },
  }
}

const withoutParameters = (mediaType: string): string => mediaType.split(';')[0] ?? mediaType

/** Returns the errors of a route as references to the shared responses. */
const createErrorReferences = (route: Route): ZodOpenApiResponsesObject =>
  Object.fromEntries(
    statusesOf(route).map((status) => [status, { $ref: `#/components/responses/${nameOf(status, route)}` }]),
  )

/** Returns the shared error responses. */
export const createErrorResponses = (routes: readonly Route[]): Record<string, ZodOpenApiResponseObject> =>
  Object.fromEntries(
    routes.flatMap((route) =>
      statusesOf(route).map((status) => [nameOf(status, route), refusalResponse(status, route)]),
    ),
  )

const statusesOf = (route: Route): string[] =>
  Object.entries(errorStatusesOfApi).flatMap(([status, { when }]) =>
    !when || when(route) || route.refuses?.some((extra) => String(extra) === status) || isJsonRpc(status, route)
      ? [status]
      : [],
  )

/** Returns the name of an error response. OAuth and JSON-RPC have error formats of their own. */
const nameOf = (status: string, route: Route): string => {
  const protocol = route.errorFormat ? 'OAuth' : isJsonRpc(status, route) ? 'JsonRpc' : ''
  return `${protocol}Refused${status}`
}

const isJsonRpc = (status: string, { jsonRpc = [] }: Route): boolean => jsonRpc.some((each) => String(each) === status)

/** An error of a JSON-RPC route: JSON-RPC from the service, the usual error format from the gateway itself. */
const JsonRpcFailure = z.union([
  z.object({
    jsonrpc: z.literal('2.0'),
    id: z.union([z.string(), z.number(), z.null()]),
    error: z.object({ code: z.number().int(), message: z.string(), data: z.unknown().optional() }),
  }),
  ErrorResponse,
])

const refusalResponse = (status: string, route: Route): ZodOpenApiResponseObject => {
  const { description = '', retried } = errorStatusesOfApi[status] ?? {}
  const headers = retried && { 'Retry-After': { description: 'In seconds.', schema: { type: 'integer' as const } } }
  const content = { 'application/json': { schema: failureOf(status, route) } }
  return { description, ...(headers && { headers }), content }
}

const failureOf = (status: string, route: Route): z.ZodType => {
  if (route.errorFormat) return OAuthErrorResponse
  return isJsonRpc(status, route) ? JsonRpcFailure : ErrorResponse
}

/** An error status, and the routes that can respond with it. */
interface ErrorStatus {
  description: string
  /** Returns whether a route can respond with this status; if absent, all routes can. */
  when?(route: Route): boolean
  /** The response has a Retry-After header. */
  retried?: true
}

const isWrite = ({ method }: Route): boolean => method !== 'GET'
const requiresIdentity = ({ access }: Route): boolean => access !== 'anonymous'
const hasBody = ({ body, reads }: Route): boolean => body !== undefined || reads !== undefined

const isStream = ({ mediaType }: Route): boolean => mediaType === 'text/event-stream'

/** All error statuses of the API. */
const errorStatusesOfApi: Readonly<Record<string, ErrorStatus>> = {
  '400': { description: 'A parameter or the body is invalid; the message names it.' },
  '401': { description: 'No user is signed in, or the credentials are invalid.', when: requiresIdentity },
  '403': { description: 'The caller may not do this.' },
  '404': { description: 'The resource does not exist, or the feature is disabled.' },
  '405': { description: 'The method is not allowed; Allow lists the allowed methods.', when: () => false },
  '408': { description: 'The request did not arrive in time.' },
  '409': { description: 'The request conflicts with the current state.', when: isWrite },
  '410': { description: 'The resource no longer exists.', when: (route) => isWrite(route) || isStream(route) },
  '413': { description: 'The body is too large.', when: hasBody },
  '415': { description: 'The media type of the body is not supported.', when: hasBody },
  '422': { description: 'The body contains no valid event.', when: () => false },
  '429': { description: 'Too many requests.', when: ({ limit }) => limit !== 'none', retried: true },
  '431': { description: 'The path and header fields are too large, or there are too many fields.' },
  '500': { description: 'Internal error; see the log by the request id.' },
  '501': { description: 'A required setting is missing.' },
  '503': { description: 'A required service is unavailable or not configured.', retried: true },
  '504': { description: 'The request timed out.' },
}

/** Returns the schema of the path parameters. */
const pathParameters = (path: string): { path?: z.ZodObject } => {
  const names = [...path.matchAll(/\{(?<name>\w+)\}/g)].flatMap(({ groups }) => groups?.name ?? [])
  if (names.length === 0) return {}
  return { path: z.object(Object.fromEntries(names.map((name) => [name, segment]))) }
}

const segment = z.string().min(1).max(512)
