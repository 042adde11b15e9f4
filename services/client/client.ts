import {
  buildRoutePath,
  getRouteMethod,
  type OptionalArgument,
  type ResponseBody,
  type RouteInput,
  type RouteName,
} from '#proto/http/route.ts'
import { readServerEvents, type ServerEvent } from '#proto/server-events.ts'
import { createIncompleteError, createResponseError, createInvalidResponseError, RequestError } from './failure.ts'
import { readLines } from './lines.ts'
import { type PagedRoute, type PageItem, readPages } from './pages.ts'
import { failWith } from './response-body.ts'
import { computeRetryDelayMs, defaultRetryPolicy, isRepeatable, type RetryPolicy } from './retry.ts'
import { readRows, type RowsRoute, type RowStream } from './rows.ts'

/** Default time until the response of a request must be complete. Longer than the longest permitted statement. */
const defaultTimeoutMs = 70_000

/** How to reach a Watchhouse server. */
export interface ClientOptions {
  /** The address of the server, such as `https://watchhouse.example.com`. */
  url: string
  /** Sent as bearer token. */
  apiKey?: string | undefined
  retry?: Partial<RetryPolicy>
  timeoutMs?: number
  /** Ends all requests. */
  signal?: AbortSignal
  /** Headers of every request. */
  headers?: Readonly<Record<string, string>>
  /** Replaces `fetch`, for tests. */
  fetch?: typeof fetch
  /** Waits before a repetition, for tests. */
  wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>
}

/** Options of one request. */
interface RequestOptions {
  signal?: AbortSignal
  headers?: Readonly<Record<string, string>>
  /** Replaces the time limit of the client. */
  timeoutMs?: number
}

type Argument<R extends RouteName> = OptionalArgument<RouteInput<R> & RequestOptions>

/** A typed client of the HTTP API. Every method rejects with a `RequestError`, or with the reason of an aborted signal. */
export interface Client {
  /** The address of the server without a trailing slash. */
  readonly url: string
  /** The key that the client sends; undefined without one. */
  readonly apiKey: string | undefined
  /** Calls a route and returns its JSON body. */
  call<R extends RouteName>(route: R, ...argument: Argument<R>): Promise<ResponseBody<R>>
  /** Calls a route and returns its response when the headers arrive. There is no time limit for the body. */
  open<R extends RouteName>(route: R, ...argument: Argument<R>): Promise<Response>
  /** Yields the lines of a streamed response, such as NDJSON or CSV. */
  lines<R extends RouteName>(route: R, ...argument: Argument<R>): AsyncGenerator<string>
  /** Yields the server-sent events of a route. */
  events<R extends RouteName>(route: R, ...argument: Argument<R>): AsyncGenerator<ServerEvent>
  /** Calls a route that returns columns and rows, and yields the rows as they arrive. */
  rows<R extends RowsRoute>(route: R, ...argument: Argument<R>): Promise<RowStream<R>>
  /** Yields the entries of all pages of a route. */
  pages<R extends PagedRoute>(route: R, ...argument: Argument<R>): AsyncGenerator<PageItem<R>>
}

/** Returns a client for one server. */
export const createClient = (options: ClientOptions): Client => {
  const url = options.url.replace(/\/+$/, '')
  const send = createSender({ ...options, url })
  const { host } = new URL(url)
  const openResponse = (route: string, input: SentInput = {}): Promise<Response> =>
    send(route, input, async (response) =>
      failWith(response, (cause) => {
        for (const signal of [options.signal, input.signal]) signal?.throwIfAborted()
        return createIncompleteError(host, response, cause)
      }),
    )
  const client: Client = {
    url,
    apiKey: options.apiKey,
    async call(route, ...[input]) {
      // Every response is validated by the service against the schema from which its type is inferred.
      return (await send(route, input, readJson)) as ResponseBody<typeof route>
    },
    open: (route, ...[input]) => openResponse(route, input),
    async *lines(route, ...argument) {
      yield* readLines(await client.open(route, ...argument))
    },
    async *events(route, ...argument) {
      yield* readServerEvents(await client.open(route, ...argument))
    },
    rows: async (route, ...[input]) => await readRows(await openResponse(route, input)),
    pages: (route, ...[input]) => readPages(client, route, { ...input }),
  }
  return client
}

interface SentInput extends RequestOptions {
  path?: Readonly<Record<string, string>>
  query?: object | undefined
  body?: unknown
}

interface Attempt {
  address: string
  init: RequestInit
  signals: readonly AbortSignal[]
  timeoutMs: number
}

/** Returns a function that sends a request, repeats it if possible, and reads its response with `read`. */
const createSender = (options: ClientOptions) => {
  const { url, apiKey, timeoutMs = defaultTimeoutMs, wait = sleep } = options
  const policy = { ...defaultRetryPolicy, ...options.retry }
  const attempt = createAttempter(options.fetch ?? fetch)
  return async <T>(route: string, input: SentInput = {}, read: (response: Response) => Promise<T>): Promise<T> => {
    const method = getRouteMethod(route)
    const headers: Record<string, string> = {
      accept: 'application/json, text/event-stream;q=0.9, */*;q=0.1',
      ...options.headers,
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      ...(input.body !== undefined && { 'content-type': 'application/json' }),
      ...input.headers,
    }
    const body = input.body === undefined ? {} : { body: JSON.stringify(input.body) }
    const signals = [options.signal, input.signal].filter((signal) => signal !== undefined)
    const request = {
      address: url + buildRoutePath(route, input),
      init: { method, headers, ...body },
      signals,
      timeoutMs: input.timeoutMs ?? timeoutMs,
    }
    for (let failures = 0; ; failures += 1) {
      try {
        return await attempt(request, read)
      } catch (error) {
        const delayMs = isRepeatable(method, headers) ? computeRetryDelayMs(policy, failures, error) : undefined
        if (delayMs === undefined) throw error
        await wait(delayMs, signals.length > 0 ? AbortSignal.any([...signals]) : undefined)
      }
    }
  }
}

const createAttempter =
  (send: typeof fetch) =>
  async <T>({ address, init, signals, timeoutMs }: Attempt, read: (response: Response) => Promise<T>): Promise<T> => {
    const timeout = new AbortController()
    const timer = setTimeout(() => timeout.abort(), timeoutMs)
    try {
      const response = await send(address, { ...init, signal: AbortSignal.any([...signals, timeout.signal]) })
      if (!response.ok) throw await createResponseError(response, Date.now())
      return await read(response)
    } catch (error) {
      for (const signal of signals) signal.throwIfAborted()
      throw error instanceof RequestError
        ? error
        : toConnectionError(error, new URL(address), timeout.signal, timeoutMs)
    } finally {
      clearTimeout(timer)
    }
  }

const readJson = async (response: Response): Promise<unknown> => {
  const text = await response.text()
  if (text === '') return undefined
  if (!/[/+]json\b/.test(response.headers.get('content-type') ?? '')) return text
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw createInvalidResponseError(response, cause)
  }
}

/** Converts an error of `fetch`. The message contains host and port, because credentials can be in the rest of a URL. */
const toConnectionError = (cause: unknown, { host }: URL, timeout: AbortSignal, timeoutMs: number): RequestError => {
  const facts = { status: 0, type: 'unknown', cause } as const
  if (timeout.aborted)
    return new RequestError({
      ...facts,
      code: 'no-response',
      message: `${host}: no response within ${timeoutMs / 1000} s`,
    })
  return new RequestError({ ...facts, code: 'unreachable', message: `${host}: ${describeCause(cause)}` })
}

const describeCause = (error: unknown): string => {
  // The error of `fetch` for the ports that browsers block, such as 1 and 6000.
  if (error instanceof Error && error.cause instanceof Error && error.cause.message === 'bad port')
    return 'HTTP clients block this port'
  const code = findSystemCode(error)
  return causes[code ?? ''] ?? (code === undefined ? 'connection failed' : `connection failed: ${code}`)
}

const findSystemCode = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined
  if ('code' in error && typeof error.code === 'string') return error.code
  return error instanceof AggregateError ? findSystemCode(error.errors[0]) : findSystemCode(error.cause)
}

const causes: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens on this port',
  ENOTFOUND: 'the host name does not resolve',
  EAI_AGAIN: 'the DNS server does not respond',
  ECONNRESET: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is not signed by a trusted CA',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate is not signed by a trusted CA',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate is not signed by a trusted CA',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the port does not speak TLS',
  EPROTO: 'the port does not speak TLS',
}

const sleep = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted'))
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      resolve()
    }, ms)
    if (signal?.aborted) end()
    else signal?.addEventListener('abort', end, { once: true })
  })
