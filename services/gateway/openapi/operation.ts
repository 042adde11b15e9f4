import { z } from 'zod'
import type { ZodOpenApiOperationObject, ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi'
import { Failure } from '#proto/http/answer.ts'
import { OAuthFailure } from '#proto/http/auth.ts'
import type { Route } from '../route.ts'
import { pathParameters } from './path-parameters.ts'

/** One route as OpenAPI tells it: what it takes, what it answers, and every way it refuses. */
export const operationOf = (route: Route): ZodOpenApiOperationObject => ({
  operationId: operationId(route),
  summary: route.doc,
  tags: [tagOf(route)],
  security: securityOf(route),
  requestParams: { ...pathParameters(route.path), ...queryParameters(route.query) },
  ...(route.body && { requestBody: requestBody(route, route.body) }),
  ...(route.reads && { requestBody: bytesOf(route.reads) }),
  responses: {
    ...goodAnswer(route),
    ...(route.nothing !== undefined && { '204': { description: route.nothing } }),
    ...refusals(route),
  },
})

/** `GET /api/v1/charts/{name}` is `getChartsByName`; what lies outside /api says so, since some paths have a twin there. */
const operationId = ({ method, path }: Route): string => {
  const words = path.split('/').flatMap((segment) => {
    if (['', 'api', 'v1'].includes(segment)) return []
    const parameter = /^\{(?<name>\w+)\}$/.exec(segment)?.groups?.name
    return parameter === undefined ? segment.split(/[-._]/) : ['by', parameter]
  })
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  return `${method.toLowerCase()}${path.startsWith('/api/') ? '' : 'Root'}${name}`
}

/** The first word of the path that tells routes apart. */
export const tagOf = ({ path }: Route): string =>
  path.split('/').find((segment) => !['', 'api', 'v1', '.well-known'].includes(segment)) ?? 'service'

const securityOf = ({ access }: Route): Record<string, string[]>[] => {
  if (access === 'anonymous') return []
  if (access === 'own-bearer') return [{ operator: [] }]
  // The last, empty one: where nothing to sign in with is configured, or anonymous callers may read.
  return [{ bearer: [] }, { apiKey: [] }, { keyCookie: [] }, { session: [] }, {}]
}

const queryParameters = (query: z.ZodType): { query?: z.ZodObject } => {
  if (!(query instanceof z.ZodObject)) throw new Error('the parameters of a route are an object')
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

const goodAnswer = ({
  answer,
  status = 200,
  mediaType = 'application/json',
  downloads = [],
}: Route): ZodOpenApiResponsesObject => {
  if (answer instanceof z.ZodUndefined) {
    return {
      '302': { description: 'Sends a browser elsewhere.', headers: { Location: { schema: { type: 'string' } } } },
    }
  }
  const files = downloads.map((type) => [type, { schema: { type: 'string' as const } }])
  return {
    [`${status}`]: {
      description: 'The answer.',
      content: { [withoutParameters(mediaType)]: { schema: answer }, ...Object.fromEntries(files) },
    },
  }
}

const withoutParameters = (mediaType: string): string => mediaType.split(';')[0] ?? mediaType

/** What a route may refuse with, each as a reference to where the document tells it. */
const refusals = (route: Route): ZodOpenApiResponsesObject =>
  Object.fromEntries(
    statusesOf(route).map((status) => [status, { $ref: `#/components/responses/${nameOf(status, route)}` }]),
  )

/** The refusals of all routes, each told once. */
export const refusalResponses = (routes: readonly Route[]): Record<string, ZodOpenApiResponseObject> =>
  Object.fromEntries(
    routes.flatMap((route) =>
      statusesOf(route).map((status) => [nameOf(status, route), refusalResponse(status, route)]),
    ),
  )

const statusesOf = (route: Route): string[] =>
  Object.entries(refused).flatMap(([status, { when }]) =>
    !when || when(route) || route.refuses?.some((extra) => String(extra) === status) ? [status] : [],
  )

/** OAuth words its own way. */
const nameOf = (status: string, { refusal }: Route): string => `${refusal ? 'OAuth' : ''}Refused${status}`

const refusalResponse = (status: string, { refusal }: Route): ZodOpenApiResponseObject => {
  const { description = '', retried } = refused[status] ?? {}
  const headers = retried && { 'Retry-After': { description: 'Seconds.', schema: { type: 'integer' as const } } }
  const content = { 'application/json': { schema: refusal ? OAuthFailure : Failure } }
  return { description, ...(headers && { headers }), content }
}

interface Refused {
  description: string
  /** Routes that may answer so; all of them where nothing is said. */
  when?(route: Route): boolean
  /** Says when to come again. */
  retried?: true
}

const writes = ({ method }: Route): boolean => method !== 'GET'
const needsSomebody = ({ access }: Route): boolean => access !== 'anonymous'
const readsBody = ({ body, reads }: Route): boolean => body !== undefined || reads !== undefined

const isStream = ({ mediaType }: Route): boolean => mediaType === 'text/event-stream'

/** Every status that a caller may meet besides the good answer. */
const refused: Readonly<Record<string, Refused>> = {
  '400': { description: 'A parameter or the body is wrong; the sentence names it.' },
  '401': { description: 'Nobody is signed in, or the credentials do not hold.', when: needsSomebody },
  '403': { description: 'The caller may not do this.' },
  '404': { description: 'There is no such thing, or the feature is disabled.' },
  '405': { description: 'This is not done here.', when: () => false },
  '409': { description: 'It contradicts what is there.', when: writes },
  '410': { description: 'It was there and is not any more.', when: (route) => writes(route) || isStream(route) },
  '413': { description: 'The body is too large.', when: readsBody },
  '415': { description: 'The body is of a type that is not read here.', when: readsBody },
  '422': { description: 'There is nothing in it that can be understood.', when: ({ reads }) => reads !== undefined },
  '429': { description: 'Too many requests.', when: ({ limit }) => limit !== 'none', retried: true },
  '500': { description: 'A defect of ours; the log tells more under the request id.' },
  '501': { description: 'It needs something that is not configured.' },
  '503': { description: 'What it needs does not answer, or is not configured.', retried: true },
  '504': { description: 'It was not answered in time.' },
}
