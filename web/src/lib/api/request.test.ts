import { createServer, type RequestListener } from 'node:http'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { getRetryDelayMs } from './retry.ts'
import { RequestFailure } from './failure.ts'
import { requestJson } from './request.ts'

let stop = () => {}
// Requests read the URL of the page, which may select a browser connection.
beforeEach(() => void vi.stubGlobal('location', new URL('http://localhost:3000/overview')))
afterEach(() => {
  vi.unstubAllGlobals()
  stop()
})

const serve = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stop = () => void server.close()
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the test server has no port')
  return `http://127.0.0.1:${address.port}/`
}

const failureOf = async (attempt: Promise<unknown>): Promise<RequestFailure> => {
  const thrown = await attempt.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (thrown instanceof RequestFailure) return thrown
  throw new Error(`expected a failure, got ${String(thrown)}`)
}

describe('API requests', () => {
  it('returns the response', async () => {
    const url = await serve((_, response) => response.end('{"success":true,"data":[1],"metadata":{}}'))
    expect(await requestJson(url)).toEqual({ success: true, data: [1], metadata: {} })
  })

  it('posts a JSON body', async () => {
    const url = await serve((request, response) => {
      response.setHeader('content-type', 'application/json')
      request.pipe(response)
    })
    expect(await requestJson(url, { body: { names: ['a'] } })).toEqual({ names: ['a'] })
  })

  it('reports type, message, details, request id and retry delay', async () => {
    const error = { type: 'busy', message: 'Come later.', details: { host: 'a' } }
    const url = await serve((_, response) => {
      response.writeHead(503, { 'retry-after': '3' })
      response.end(JSON.stringify({ success: false, error, metadata: { requestId: 'r1' } }))
    })
    const failure = await failureOf(requestJson(url))
    expect(failure).toMatchObject({
      status: 503,
      type: 'busy',
      message: 'Come later.',
      requestId: 'r1',
      retryAfterMs: 3000,
    })
    expect(failure.details).toEqual({ host: 'a' })
    expect(failure.isTransient).toBe(true)
    expect(getRetryDelayMs(0, failure)).toBe(3000)
  })

  it('does not retry at once when a host is down', async () => {
    const url = await serve((_, response) => response.writeHead(503).end('{}'))
    expect((await failureOf(requestJson(url))).isTransient).toBe(false)
  })

  it('reports an unreachable service as a network failure', async () => {
    const failure = await failureOf(requestJson('http://127.0.0.1:1/'))
    expect(failure).toMatchObject({ status: 0, type: 'network', isTransient: true })
  })

  it('rejects an HTML error page of an intermediate proxy', async () => {
    const url = await serve((_, response) => response.end('<html>proxy</html>'))
    expect((await failureOf(requestJson(url))).type).toBe('garbage')
  })

  it('aborts with its signal', async () => {
    const url = await serve(() => {})
    const wanted = new AbortController()
    const attempt = requestJson(url, { signal: wanted.signal })
    wanted.abort()
    await expect(attempt).rejects.toMatchObject({ name: 'AbortError' })
  })
})
