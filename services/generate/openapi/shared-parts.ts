import { idpCookie, keyCookie } from '../../gateway/auth/cookies.ts'

/** The ways to authenticate. */
export const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer', description: 'An API key (`svc_`) or a token of the identity provider.' },
  apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'An API key (`svc_`).' },
  keyCookie: {
    type: 'apiKey',
    in: 'cookie',
    name: keyCookie,
    description: 'The API key of a user who signed in with it.',
  },
  session: { type: 'apiKey', in: 'cookie', name: idpCookie, description: 'A session of the identity provider.' },
  operator: { type: 'http', scheme: 'bearer', description: 'A secret of the operator, valid for this route only.' },
} as const

const seconds = { type: 'integer', minimum: 0 } as const
const text = { type: 'string' } as const

/** The headers of responses. */
export const headers = {
  RequestId: {
    description: 'The id of the request in logs and traces: that of the request header `X-Request-Id`, else a new one.',
    schema: text,
    example: '0b5c3f0e-6a4e-4a55-9d4b-6c5fd3a0a0e1',
  },
  RateLimit: { description: 'Allowed requests per minute.', schema: seconds, example: 100 },
  RateRemaining: { description: 'Remaining requests of this minute.', schema: seconds, example: 99 },
  RateReset: { description: 'Seconds until the rate limit starts again.', schema: seconds, example: 60 },
  RetryAfter: { description: 'Seconds to wait before the request is sent again.', schema: seconds, example: 5 },
  ETag: {
    description: 'The version of the response, for `If-None-Match`.',
    schema: text,
    example: 'W/"2jmj7l5rSw0yVb_vlWAYkK_YBwk"',
  },
  Challenge: { description: 'How to authenticate.', schema: text, example: 'Bearer realm="watchhouse"' },
  Allow: { description: 'The allowed methods.', schema: text, example: 'POST' },
} as const

/** The headers of requests. */
export const headerParameters = {
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of an earlier response. If it is still current, the response is 304 without a body.',
    schema: text,
  },
  RequestId: {
    name: 'X-Request-Id',
    in: 'header',
    description: 'An id of the request for logs and traces, which the response repeats.',
    schema: text,
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'A key of 1 to 255 characters. A repeated request with the same key and body stores nothing again; with another body, the response is 409.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
    example: 'deploy-2026-06-01',
  },
} as const
