import { describe, expect, it } from 'vitest'
import { type ErrorCode, errorStatuses, ServiceError } from '#proto/errors.ts'
import { ErrorResponse } from '#proto/http/response.ts'
import { toPublicError } from './error-response.ts'
import { createClientClosedError, clientClosedStatus } from './http-exchange.ts'
import { startFakeProduct } from '../testing/fake-product.ts'

const overviewThatThrows = async (error: unknown) => {
  await using product = await startFakeProduct({
    query: {
      overview: async () => {
        throw error
      },
    },
  })
  const response = await fetch(`${product.url}/api/v1/overview?hostId=0`, { headers: { 'x-request-id': 'my-id' } })
  const { status, headers } = response
  return { status, headers, body: ErrorResponse.parse(await response.json()), logged: product.logged.join('') }
}

// The keys of the table are exactly the error codes.
const codes = Object.keys(errorStatuses) as ErrorCode[]

describe('errors', () => {
  it.each(codes.filter((code) => code !== 'internal'))('returns %s with its message', async (code) => {
    const error = new ServiceError(code, 'host logs is down', { details: { host: 'logs' }, retryAfterMs: 1_200 })
    const { status, headers, body } = await overviewThatThrows(error)
    expect(status).toBe(errorStatuses[code])
    expect(headers.get('retry-after')).toBe('2')
    expect(body).toEqual({
      success: false,
      error: { type: code, message: 'host logs is down', details: { host: 'logs' } },
      metadata: { requestId: 'my-id' },
    })
  })

  it('omits Retry-After for errors that a retry does not fix', async () => {
    const { headers } = await overviewThatThrows(new ServiceError('not-found', 'no'))
    expect(headers.get('retry-after')).toBeNull()
  })

  it.each([
    new Error('secret at http://user:word@host:8123'),
    new ServiceError('internal', 'secret at /etc/x'),
    'secret',
  ])('hides internal details: %s', async (error) => {
    const { status, body, logged } = await overviewThatThrows(error)
    expect(status).toBe(500)
    expect(body.error).toEqual({ type: 'internal', message: expect.stringContaining('internal error') })
    expect(JSON.stringify(body)).not.toContain('secret')
    expect(logged).toContain('"requestId":"my-id"')
  })

  it('does not count a stream as failed if the caller disconnected', () => {
    const left = createClientClosedError()
    expect(toPublicError(new AggregateError([left, new Error('aborted')], left.message)).status).toBe(
      clientClosedStatus,
    )
  })

  it('returns 503 at once while the query service is not running', async () => {
    await using product = await startFakeProduct({ withoutQuery: true })
    const response = await fetch(`${product.url}/api/v1/hosts`)
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({ success: false, error: { type: 'unavailable' } })
  })
})
