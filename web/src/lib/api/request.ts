import type { ErrorResponse } from '#proto/http/response.ts'
import { fetchConnectionHeaders, type BrowserConnection } from './browser-connections.ts'
import { RequestFailure } from './failure.ts'
import type { Routes } from '#proto/http/routes.ts'

/** Request timeout, slightly longer than the longest permitted statement. */
const timeoutMs = 70_000

export interface RequestOptions {
  signal?: AbortSignal
  /** The body, sent as JSON, by POST unless `method` is set. Without a body, the request is a GET. */
  body?: unknown
  method?: string
  /** A secret that the user entered for this request; signed-in users need none. */
  bearer?: string | undefined
  /** Further request headers. */
  headers?: Record<string, string>
}

/** Sends a request and returns its JSON response, or rejects with a `RequestFailure`. */
export const requestJson = async <Body>(path: string, options: RequestOptions = {}): Promise<Body> => {
  const response = await send(path, options, await fetchConnectionHeaders(openSession))
  const body = await readBody(response, path)
  if (!response.ok) throw responseFailure(response, body)
  // The service validates every response against the schema from which the type is inferred.
  return body as Body
}

/** Sends a request and returns the response as a file. Unlike a link, it can use a connection of this browser. */
export const requestFile = async (path: string, options: RequestOptions = {}): Promise<Blob> => {
  const response = await send(path, options, await fetchConnectionHeaders(openSession))
  if (!response.ok) throw responseFailure(response, await readBody(response, path))
  return response.blob()
}

/** Sends a request without a timeout and returns the response while it streams; null for 204. */
export const requestStream = async (path: string, options: RequestOptions = {}): Promise<Response | null> => {
  const response = await send(path, options, await fetchConnectionHeaders(openSession), null)
  if (!response.ok) throw responseFailure(response, await readBody(response, path))
  return response.status === 204 ? null : response
}

const openSession = async ({ name, url, user, password }: BrowserConnection) => {
  const path = '/api/v1/browser-connections/sessions'
  const response = await send(path, { body: { name, url, user, password } }, {})
  const body = await readBody(response, path)
  if (!response.ok) throw responseFailure(response, body)
  // The service validates every response, as in `requestJson`.
  return (body as Routes['POST /api/v1/browser-connections/sessions']['response']).data
}

const send = async (
  path: string,
  { signal, body, method, bearer, headers: further }: RequestOptions,
  connection: Record<string, string>,
  waitMs: number | null = timeoutMs,
): Promise<Response> => {
  const timeout = waitMs === null ? new AbortController().signal : AbortSignal.timeout(waitMs)
  const headers = {
    ...connection,
    ...further,
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
  }
  try {
    return await fetch(path, {
      headers,
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      ...(method && { method }),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    })
  } catch (thrown) {
    if (signal?.aborted) throw thrown
    const message = timeout.aborted
      ? `No response within ${timeoutMs / 1000} seconds.`
      : 'The monitoring service is unreachable. Check your network connection and that the service is running.'
    throw new RequestFailure({ status: 0, type: 'network', message })
  }
}

const readBody = async (response: Response, path: string): Promise<unknown> => {
  try {
    return await response.json()
  } catch {
    if (!response.ok) return undefined
    throw new RequestFailure({ status: 502, type: 'garbage', message: `The response of ${path} is not valid JSON.` })
  }
}

const responseFailure = (response: Response, body: unknown): RequestFailure => {
  const failure = isFailure(body) ? body : undefined
  return new RequestFailure({
    status: response.status,
    type: failure?.error.type ?? 'unknown',
    message: failure?.error.message ?? `The service responded with ${response.status} ${response.statusText}.`,
    details: failure?.error.details,
    requestId: failure?.metadata.requestId ?? response.headers.get('x-request-id'),
    retryAfterMs: retryAfter(response.headers.get('retry-after')),
  })
}

const isFailure = (body: unknown): body is ErrorResponse =>
  typeof body === 'object' && body !== null && 'error' in body && 'success' in body && body.success === false

const retryAfter = (header: string | null): number | null => {
  const seconds = Number(header)
  return header && Number.isFinite(seconds) ? seconds * 1000 : null
}
