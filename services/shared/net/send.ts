import { type Agent, fetch } from 'undici'
import { boundedAnswer } from './bounded-answer.ts'
import { NetFailure, failureOf } from './failure.ts'

const defaultTimeoutMs = 10_000
const defaultMaxBytes = 1024 * 1024

type GivenHeaders = Headers | Record<string, string> | [string, string][]

/** What is sent besides the address; the bounds hold for the whole exchange, body included. */
export interface Outgoing {
  method?: string | undefined
  headers?: GivenHeaders | undefined
  body?: string | Uint8Array<ArrayBuffer> | undefined
  signal?: AbortSignal | null | undefined
  timeoutMs?: number | undefined
  /** Of the answer's body after decompression; a longer one fails while it is read. */
  maxBytes?: number | undefined
}

/** Headers that say where a request goes or how it is framed, which the address and the body alone decide. */
const ownHeaders = [
  'host',
  'connection',
  'content-length',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/** One request, within its bounds and without following redirects. Throws `NetFailure`, or the reason of the caller's signal. */
export const send = async (agent: Agent, url: URL, outgoing: Outgoing): Promise<Response> => {
  const { method = 'GET', body, signal, timeoutMs = defaultTimeoutMs, maxBytes = defaultMaxBytes } = outgoing
  const host = url.hostname
  const late = AbortSignal.timeout(timeoutMs)
  const translate = (error: unknown): unknown => {
    if (signal?.aborted) return signal.reason
    return late.aborted ? new NetFailure('timeout', { host }) : failureOf(host, error)
  }
  const headers = headersFor(host, outgoing.headers)
  const either = signal ? AbortSignal.any([signal, late]) : late
  const answer = await fetch(url, {
    method,
    headers: [...headers],
    body: body ?? null,
    signal: either,
    dispatcher: agent,
    redirect: 'manual',
  }).catch((error: unknown) => {
    throw translate(error)
  })
  if (answer.status >= 300 && answer.status < 400 && answer.status !== 304) {
    await answer.body?.cancel()
    throw new NetFailure('redirect', { host })
  }
  return boundedAnswer(answer, { host, maxBytes, translate })
}

const headersFor = (host: string, given: GivenHeaders | undefined): Headers => {
  const refused = new NetFailure('not-allowed', { host, rule: 'header' })
  try {
    const headers = new Headers(given)
    if (ownHeaders.some((name) => headers.has(name))) throw refused
    return headers
  } catch {
    // A line break in a value would begin a header of its own.
    throw refused
  }
}
