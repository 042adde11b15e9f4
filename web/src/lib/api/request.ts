import type { Failure } from '#proto/http/answer.ts'
import { RequestFailure } from './failure.ts'

/** A page waits this long for an answer: a little more than the longest statement may take. */
const patienceMs = 70_000

export interface RequestOptions {
  signal?: AbortSignal
  /** Sent as JSON by POST; without it the request is a GET unless `method` says otherwise. */
  body?: unknown
  method?: 'DELETE'
  /** A secret that somebody typed for this one request; who is signed in needs none. */
  bearer?: string | undefined
}

/** The JSON answer of a path of this service, or a `RequestFailure`. Its shape is the service's contract for that path. */
export const requestJson = async <Answer>(path: string, options: RequestOptions = {}): Promise<Answer> => {
  const response = await send(path, options)
  const body = await readBody(response, path)
  if (!response.ok) throw refused(response, body)
  // The service validates every answer against the schema from which `Answer` is inferred.
  return body as Answer
}

const send = async (path: string, { signal, body, method, bearer }: RequestOptions): Promise<Response> => {
  const patience = AbortSignal.timeout(patienceMs)
  const headers = {
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
  }
  try {
    return await fetch(path, {
      headers,
      ...(method && { method }),
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
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
