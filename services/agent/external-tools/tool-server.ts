import type { Client, ClientOptions, FetchLike, JsonSchemaValidator, Tool } from '@modelcontextprotocol/client'
import { ServiceError } from '#proto/errors.ts'
import { NetFailure } from '#shared/net/failure.ts'
import type { RequestSender } from '#shared/net/net.ts'

/** An external MCP server. */
export interface ToolServer {
  /** The identifier in the names of its tools. */
  id: string
  /** The display name, also used in errors. */
  name: string
  endpoint: URL
  /** Sends HTTP requests to the server. Blocks internal networks if a user supplied the address. */
  send: RequestSender
}

/** Timeout and cancellation of one call. */
export interface CallLimits {
  timeoutMs: number
  signal: AbortSignal
}

const maxBytes = 1024 * 1024
/** Maximum number of pages of a tool list; further pages are ignored. */
const maxPages = 4

/** Lists the tools of a server. Throws `ServiceError`, whose message never quotes the response. */
export const listTools = (server: ToolServer, limits: CallLimits): Promise<Tool[]> =>
  withConnection(server, limits, async (client, options) => (await client.listTools(undefined, options)).tools)

/** Calls a tool. Throws `ServiceError`, whose message never quotes the response. */
export const callTool = (server: ToolServer, tool: Tool, parsedInput: Record<string, unknown>, limits: CallLimits) =>
  withConnection(server, limits, (client, options) =>
    client.callTool({ name: tool.name, arguments: parsedInput }, { ...options, toolDefinition: tool }),
  )

interface Options {
  timeout: number
  maxTotalTimeout: number
  signal: AbortSignal
}

/** Runs `work` on a new connection, so that no state of the server is shared between calls. */
const withConnection = async <T>(
  server: ToolServer,
  { timeoutMs, signal }: CallLimits,
  work: (client: Client, options: Options) => Promise<T>,
): Promise<T> => {
  const library = await import('@modelcontextprotocol/client')
  const late = AbortSignal.timeout(timeoutMs)
  const either = AbortSignal.any([signal, late])
  const options = { timeout: timeoutMs, maxTotalTimeout: timeoutMs, signal: either }
  const client = new library.Client({ name: 'watchhouse', version: '1.0.0' }, clientOptions)
  const transport = new library.StreamableHTTPClientTransport(server.endpoint, {
    fetch: createFetch(server, { timeoutMs, signal: either }),
    reconnectionOptions,
  })
  try {
    await client.connect(transport, options)
    return await work(client, options)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    const status = error instanceof library.SdkHttpError ? error.status : undefined
    throw createToolServerError(server, { net: findNetFailure(error), isLate: late.aborted, status })
  } finally {
    await client.close().catch(() => undefined)
  }
}

/** Returns a fetch function for the library that sends through `shared/net`. It follows no redirects. */
const createFetch =
  ({ send }: ToolServer, { timeoutMs, signal }: CallLimits): FetchLike =>
  (url, { method, headers, body, signal: own } = {}) =>
    send(url, {
      method,
      headers: new Headers(headers),
      body: body == null ? undefined : String(body),
      signal: own ? AbortSignal.any([own, signal]) : signal,
      timeoutMs,
      maxBytes,
    })

const reconnectionOptions = {
  maxRetries: 0,
  initialReconnectionDelay: 0,
  maxReconnectionDelay: 0,
  reconnectionDelayGrowFactor: 1,
}

const clientOptions: ClientOptions = {
  versionNegotiation: { mode: 'auto' },
  listMaxPages: maxPages,
  // Output schemas are untrusted, so they are not compiled. Results are not validated against them.
  jsonSchemaValidator: {
    getValidator:
      <T>(): JsonSchemaValidator<T> =>
      (input) =>
        // The type assertion is safe, because callers treat the result as unknown.
        ({ valid: true, data: input as T, errorMessage: undefined }),
  },
}

interface FailureFacts {
  net: NetFailure | undefined
  isLate: boolean
  status: number | undefined
}

/** Returns the error for a failed call of a server. */
const createToolServerError = ({ name }: ToolServer, { net, isLate, status }: FailureFacts): ServiceError => {
  if (isLate || net?.reason === 'timeout') return new ServiceError('timeout', `${name} did not answer in time`)
  switch (net?.reason) {
    case 'not-allowed':
      return new ServiceError('invalid', `the address of ${name} is not allowed`)
    case 'redirect':
      return new ServiceError('unavailable', `${name} responded with a redirect, which is not followed`)
    case 'too-large':
      return new ServiceError('too-large', `${name}: response too large`)
    case 'unreachable':
      return new ServiceError('unavailable', `${name} cannot be reached`)
    case undefined:
      return new ServiceError('unavailable', `${name} ${describeStatus(status)}`)
  }
}

const describeStatus = (status: number | undefined): string => {
  if (status === 401 || status === 403) return 'requires a sign-in, which is not supported'
  if (status === 429) return 'is rate limiting requests'
  return status !== undefined && status >= 500
    ? `responded with status ${status}`
    : 'does not respond like an MCP server'
}

const maxCauseDepth = 5

const findNetFailure = (error: unknown): NetFailure | undefined => {
  let cause = error
  for (let depth = 0; depth < maxCauseDepth && cause instanceof Error; depth += 1) {
    if (cause instanceof NetFailure) return cause
    cause = cause.cause
  }
  return undefined
}
