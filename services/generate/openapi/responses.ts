import { z } from 'zod'
import type { ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi'
import { errorStatuses } from '#proto/errors.ts'
import { ErrorResponse } from '#proto/http/response.ts'
import { OAuthErrorResponse } from '#proto/http/auth.ts'
import type { Route } from '../../gateway/http-route.ts'
import { exportNameKeyword } from './components.ts'

const clientErrors = '4XX'
const serverErrors = '5XX'

/** The descriptions of the statuses that an operation documents separately. */
const descriptions: Readonly<Record<string, string>> = {
  '400': 'A parameter or the body is invalid; the message names it.',
  '401': 'No user is signed in, or the credentials are invalid.',
  '404': 'The resource does not exist, or the feature is disabled.',
  '405': 'The method is not allowed; `Allow` lists the allowed methods.',
  '409': 'The request conflicts with the current state.',
  '415': 'The media type of the body is not supported.',
  '422': 'The body contains no valid event.',
  '429': 'Too many requests; retry after `Retry-After`.',
  [clientErrors]:
    'The request failed: 400 invalid, 401 not signed in (with `WWW-Authenticate`), 403 forbidden, 404 not found or disabled, 408 too slow, 409 conflict, 410 gone, 413 or 431 too large, 415 unsupported media type, 429 too many requests (with `Retry-After`).',
  [serverErrors]: 'The service failed: 500 internal, 501 a setting is missing, 503 busy or unavailable, 504 timed out.',
}

/** A documented error: its status, and its format. OAuth and JSON-RPC have error formats of their own. */
interface DocumentedError {
  status: string
  format: 'Json' | 'OAuth' | 'JsonRpc'
}

const nameOf = ({ status, format }: DocumentedError): string => `${format === 'Json' ? '' : format}Error${status}`

/** Returns the errors of a route as references to the shared responses. */
export const listErrorResponses = (route: Route): ZodOpenApiResponsesObject =>
  Object.fromEntries(
    errorsOf(route).map((error) => [error.status, { $ref: `#/components/responses/${nameOf(error)}` }]),
  )

const errorsOf = ({ refuses = [], jsonRpc = [], errorFormat }: Route): DocumentedError[] => {
  const isJsonRpc = (status: string) => jsonRpc.some((each) => String(each) === status)
  const statuses = new Set([...[...refuses, ...jsonRpc].map(String), clientErrors, serverErrors])
  return [...statuses].map((status) => ({
    status,
    format: errorFormat ? 'OAuth' : isJsonRpc(status) ? 'JsonRpc' : 'Json',
  }))
}

/** Returns the shared responses: the errors of all routes, redirects, and unchanged responses. */
export const createSharedResponses = (routes: readonly Route[]): Record<string, ZodOpenApiResponseObject> => ({
  ...Object.fromEntries(routes.flatMap(errorsOf).map((error) => [nameOf(error), errorResponse(error)])),
  Redirect: {
    description: 'Redirects a browser.',
    headers: { Location: { description: 'The address to open.', schema: { type: 'string' } } },
  },
  NotModified: {
    description: 'The response with the ETag in `If-None-Match` is still current.',
    headers: { ETag: { $ref: '#/components/headers/ETag' } },
  },
})

const rateLimitHeaders = {
  'RateLimit-Limit': { $ref: '#/components/headers/RateLimit' },
  'RateLimit-Remaining': { $ref: '#/components/headers/RateRemaining' },
  'RateLimit-Reset': { $ref: '#/components/headers/RateReset' },
}

const errorResponse = (error: DocumentedError): ZodOpenApiResponseObject => {
  const { status } = error
  return {
    description: descriptions[status] ?? '',
    headers: {
      'X-Request-Id': { $ref: '#/components/headers/RequestId' },
      ...((status === clientErrors || status === serverErrors) && {
        'Retry-After': { $ref: '#/components/headers/RetryAfter' },
      }),
      ...((status === clientErrors || status === '401') && {
        'WWW-Authenticate': { $ref: '#/components/headers/Challenge' },
      }),
      ...(status === '405' && { Allow: { $ref: '#/components/headers/Allow' } }),
      ...(status === clientErrors && rateLimitHeaders),
    },
    content: { 'application/json': formatsOf[error.format](status) },
  }
}

/** An error of a JSON-RPC route: JSON-RPC from the service, the usual error format from the gateway itself. */
const JsonRpcError = z
  .union([
    z.object({
      jsonrpc: z.literal('2.0'),
      id: z.union([z.string(), z.number(), z.null()]),
      error: z.object({ code: z.number().int(), message: z.string(), data: z.unknown().optional() }),
    }),
    ErrorResponse,
  ])
  .meta({ [exportNameKeyword]: 'JsonRpcError' })

const typeOf = (status: string): string =>
  Object.entries(errorStatuses).find(([, each]) => String(each) === status)?.[0] ??
  (status === serverErrors ? 'unavailable' : status === '422' ? 'invalid-event' : 'invalid')

const message = 'unknown host "7"; available: 0 (one), 1 (two)'

const formatsOf: Readonly<
  Record<DocumentedError['format'], (status: string) => { schema: z.ZodType; example: unknown }>
> = {
  Json: (status) => ({
    schema: ErrorResponse,
    example: {
      success: false,
      error: { type: typeOf(status), message },
      metadata: { requestId: '0b5c3f0e-6a4e-4a55-9d4b-6c5fd3a0a0e1' },
    },
  }),
  OAuth: () => ({
    schema: OAuthErrorResponse,
    example: { error: 'authorization_pending', error_description: 'the user has not decided yet' },
  }),
  JsonRpc: () => ({
    schema: JsonRpcError,
    example: { jsonrpc: '2.0', id: 1, error: { code: -32_601, message: 'Method not found' } },
  }),
}
