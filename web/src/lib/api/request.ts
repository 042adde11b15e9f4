import type { Failure } from '#proto/http/answer.ts'
import { broughtHeaders, type BroughtHost } from './brought-hosts.ts'
import { RequestFailure } from './failure.ts'
import type { Routes } from './routes.ts'

/** A page waits this long for an answer: a little more than the longest statement may take. */
const patienceMs = 70_000

export interface RequestOptions {
  signal?: AbortSignal
  /** Sent as JSON, by POST unless `method` says otherwise; without it the request is a GET. */
  body?: unknown
  method?: string
  /** A secret that somebody typed for this one request; who is signed in needs none. */
  bearer?: string | undefined
  /** Further header fields, of routes that read some. */
  headers?: Record<string, string>
}

/** The JSON answer of a path of this service, or a `RequestFailure`. Its shape is the service's contract for that path. */
export const requestJson = async <Answer>(path: string, options: RequestOptions = {}): Promise<Answer> => {
  const response = await send(path, options, await broughtHeaders(openSession))
  const body = await readBody(response, path)
  if (!response.ok) throw refused(response, body)
  // The service validates every answer against the schema from which `Answer` is inferred.
  return body as Answer
}

/** The answer of a path as a file, for where a link cannot send the header of a brought host. */
export const requestFile = async (path: string, options: RequestOptions = {}): Promise<Blob> => {
  const response = await send(path, options, await broughtHeaders(openSession))
  if (!response.ok) throw refused(response, await readBody(response, path))
  return response.blob()
}

/** An answer that is read while it comes, for as long as that takes; null where there is nothing to tell. */
export const requestStream = async (path: string, options: RequestOptions = {}): Promise<Response | null> => {
  const response = await send(path, options, await broughtHeaders(openSession), null)
  if (!response.ok) throw refused(response, await readBody(response, path))
  return response.status === 204 ? null : response
}

const openSession = async ({ name, url, user, password }: BroughtHost) => {
  const path = '/api/v1/browser-connections/sessions'
  const response = await send(path, { body: { name, url, user, password } }, {})
  const body = await readBody(response, path)
  if (!response.ok) throw refused(response, body)
  // The service validates its answers, as above.
  return (body as Routes['POST /api/v1/browser-connections/sessions']['answer']).data
}

const send = async (
  path: string,
  { signal, body, method, bearer, headers: further }: RequestOptions,
  brought: Record<string, string>,
  waitMs: number | null = patienceMs,
): Promise<Response> => {
  const patience = waitMs === null ? new AbortController().signal : AbortSignal.timeout(waitMs)
  const headers = {
    ...brought,
    ...further,
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
  }
  try {
    return await fetch(path, {
      headers,
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      ...(method && { method }),
      signal: signal ? AbortSignal.any([signal, patience]) : patience,
    })
  } catch (thrown) {
    if (signal?.aborted) throw thrown
    const message = patience.aborted
      ? `No answer within ${patienceMs / 1000} seconds.`
      : 'The monitoring service cannot be reached. Check your connection and whether it is running.'
    throw new RequestFailure({ status: 0, type: 'network', message })
  }
}

const readBody = async (response: Response, path: string): Promise<unknown> => {
  try {
    return await response.json()
  } catch {
    if (!response.ok) return undefined
    throw new RequestFailure({ status: 502, type: 'garbage', message: `The answer of ${path} is not JSON.` })
  }
}

const refused = (response: Response, body: unknown): RequestFailure => {
  const failure = isFailure(body) ? body : undefined
  return new RequestFailure({
    status: response.status,
    type: failure?.error.type ?? 'unknown',
    message: failure?.error.message ?? `The service answered ${response.status} ${response.statusText}.`,
    details: failure?.error.details,
    requestId: failure?.metadata.requestId ?? response.headers.get('x-request-id'),
    retryAfterMs: retryAfter(response.headers.get('retry-after')),
  })
}

const isFailure = (body: unknown): body is Failure =>
  typeof body === 'object' && body !== null && 'error' in body && 'success' in body && body.success === false

const retryAfter = (header: string | null): number | null => {
  const seconds = Number(header)
  return header && Number.isFinite(seconds) ? seconds * 1000 : null
}
