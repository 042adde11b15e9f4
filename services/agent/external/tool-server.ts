import type { Client, ClientOptions, FetchLike, JsonSchemaValidator, Tool } from '@modelcontextprotocol/client'
import { ServiceError } from '#proto/errors.ts'
import { NetFailure } from '#shared/net/failure.ts'
import type { Send } from '#shared/net/net.ts'

/** A tool server of somebody else. */
export interface ToolServer {
  /** Part of the names of its tools. */
  id: string
  /** As people call it. */
  name: string
  endpoint: URL
  /** The way to it: guarded where a caller gave the address. */
  send: Send
}

/** How long one exchange may take, and when it is given up. */
export interface Within {
  timeoutMs: number
  signal: AbortSignal
}

const maxBytes = 1024 * 1024
/** A server that lists more is cut off. */
const mostPages = 4

/** All that a server says it offers. Throws `ServiceError` in words that have nothing of what the server wrote. */
export const listTools = (server: ToolServer, within: Within): Promise<Tool[]> =>
  connected(server, within, async (client, options) => (await client.listTools(undefined, options)).tools)

/** What a tool gives. Throws like `listTools`. */
export const callTool = (server: ToolServer, tool: Tool, given: Record<string, unknown>, within: Within) =>
  connected(server, within, (client, options) =>
    client.callTool({ name: tool.name, arguments: given }, { ...options, toolDefinition: tool }),
  )

interface Options {
  timeout: number
  maxTotalTimeout: number
  signal: AbortSignal
}

/** One connection for one thing: servers keep nothing of us, and nothing of theirs outlives its use here. */
const connected = async <T>(
  server: ToolServer,
  { timeoutMs, signal }: Within,
  work: (client: Client, options: Options) => Promise<T>,
): Promise<T> => {
  const library = await import('@modelcontextprotocol/client')
  const late = AbortSignal.timeout(timeoutMs)
  const either = AbortSignal.any([signal, late])
  const options = { timeout: timeoutMs, maxTotalTimeout: timeoutMs, signal: either }
  const client = new library.Client({ name: 'watchhouse', version: '1.0.0' }, clientOptions)
  const transport = new library.StreamableHTTPClientTransport(server.endpoint, {
    fetch: through(server, { timeoutMs, signal: either }),
    reconnectionOptions,
  })
  try {
    await client.connect(transport, options)
    return await work(client, options)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    const status = error instanceof library.SdkHttpError ? error.status : undefined
    throw failureOf(server, { net: netFailureIn(error), isLate: late.aborted, status })
  } finally {
    await client.close().catch(() => undefined)
  }
}

/** The way out of the library: through the guard of outgoing requests, which follows no redirect. */
const through =
  ({ send }: ToolServer, { timeoutMs, signal }: Within): FetchLike =>
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
  listMaxPages: mostPages,
  // Results are read as text by a model; a schema that a stranger wrote is not compiled for it.
  jsonSchemaValidator: {
    getValidator:
      <T>(): JsonSchemaValidator<T> =>
      (input) =>
        // Whoever reads the result takes it for unknown all the same.
        ({ valid: true, data: input as T, errorMessage: undefined }),
  },
}

interface Facts {
  net: NetFailure | undefined
  isLate: boolean
  status: number | undefined
}

/** Why a server cannot be used. */
const failureOf = ({ name }: ToolServer, { net, isLate, status }: Facts): ServiceError => {
  if (isLate || net?.reason === 'timeout') return new ServiceError('timeout', `${name} did not answer in time`)
  switch (net?.reason) {
    case 'not-allowed':
      return new ServiceError('invalid', `the address of ${name} is not allowed`)
    case 'redirect':
      return new ServiceError('unavailable', `${name} answers with a redirect, which is not followed`)
    case 'too-large':
      return new ServiceError('too-large', `${name}: response too large`)
    case 'unreachable':
      return new ServiceError('unavailable', `${name} cannot be reached`)
    case undefined:
      return new ServiceError('unavailable', `${name} ${withStatus(status)}`)
  }
}

const withStatus = (status: number | undefined): string => {
  if (status === 401 || status === 403) return 'wants a sign-in, which is not offered here'
  if (status === 429) return 'is asked too often'
  return status !== undefined && status >= 500 ? `failed with ${status}` : 'does not speak as a tool server does'
}

const mostCauses = 5

const netFailureIn = (error: unknown): NetFailure | undefined => {
  let cause = error
  for (let depth = 0; depth < mostCauses && cause instanceof Error; depth += 1) {
    if (cause instanceof NetFailure) return cause
    cause = cause.cause
  }
  return undefined
}
