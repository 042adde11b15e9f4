import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import {
  CLIENT_CAPABILITIES_META_KEY,
  classifyInboundRequest,
  createMcpHandler,
  isLegacyRequest,
  type McpServer,
  PROTOCOL_VERSION_META_KEY,
  ProtocolErrorCode,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { Logger } from 'pino'
import type { CallContext } from '#proto/call.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import { maxMcpBodyBytes, maxMcpBufferedBytes, type mcp, mcpResponseHeaders } from '#proto/mcp.ts'
import type { Tracer } from '#shared/telemetry/telemetry.ts'
import { parseJson } from '#shared/text/strings.ts'
import { type MessageSummary, omitNullArguments, summarizeMessage, type RequiredFeatures } from './message-summary.ts'
import { startRequestSpan } from './request-span.ts'
import type { RunningCalls } from './running-calls.ts'
import type { CreateServer, OnToolFailure } from './server.ts'

type Http = ServiceHandlers<typeof mcp>['http']
type HttpRequest = Parameters<Http>[0]

/** Maximum number of concurrent subscriptions. Clients can subscribe to list changes, although lists never change. */
const maxSubscriptions = 64
const eventStream = 'text/event-stream'
const json = 'application/json'
const bothTypes = `${json}, ${eventStream}`

interface HttpOptions {
  serverFor: CreateServer
  /** Whether tools send notifications before their result, which legacy clients receive as events. */
  sendsNotifications: boolean
  runningCalls: RunningCalls
  tracer: Tracer
  log: Logger
}

/** One request with its message. */
interface ReceivedMessage extends MessageSummary {
  input: HttpRequest
  /** The parsed body; undefined for invalid JSON, which the library reports itself. */
  message: unknown
}

/** Returns a handler for both versions of the protocol at one endpoint, without sessions. */
export const openHttpHandler = ({
  serverFor,
  sendsNotifications,
  runningCalls,
  tracer,
  log,
}: HttpOptions): { answer: Http } & AsyncDisposable => {
  // The library creates a server per request and passes no context to it.
  const requestScope = new AsyncLocalStorage<RequestScope>()
  const onerror = (error: Error) => log.debug({ reason: error.message }, 'invalid MCP request')
  const serverNow = () => {
    const { call, part, onToolFailure } = requireScope(requestScope.getStore())
    return serverFor(call, part, onToolFailure)
  }
  const modern = createMcpHandler(serverNow, {
    legacy: 'reject',
    maxSubscriptions,
    maxRequestBodySize: maxMcpBodyBytes,
    onerror,
  })

  const respond = async (received: ReceivedMessage, { call, onToolFailure }: Answering): Promise<Response> => {
    const { input, message, part, isModern } = received
    const request = requestOf(input, message, part.kind === 'tool' ? undefined : call.signal)
    if (!isModern && (await isLegacy(request, input, message))) {
      if (received.method === 'server/discover' && received.id !== undefined)
        return createMissingEnvelopeResponse(received.id)
      const { accept = '' } = input.headers
      const isNotified = sendsNotifications || received.wantsProgress
      const asEvents = accept.includes(eventStream) && (isNotified || !accept.includes(json))
      const server = serverFor(call, part, onToolFailure)
      return answerLegacy(request, message, { server, asEvents, signal: call.signal })
    }
    return requestScope.run({ call, part, onToolFailure }, () => modern.fetch(request, { parsedBody: message }))
  }

  return {
    answer: createAnswer(respond, { runningCalls, tracer }),
    [Symbol.asyncDispose]: () => modern.close(),
  }
}

/** Returns the handler of HTTP requests: it answers messages in a span, and stops those that their clients cancel. */
const createAnswer = (
  respond: (received: ReceivedMessage, answering: Answering) => Promise<Response>,
  { runningCalls, tracer }: Pick<HttpOptions, 'runningCalls' | 'tracer'>,
): Http => {
  const answerMessage = async (input: HttpRequest, call: CallContext): ReturnType<Http> => {
    const message = omitNullArguments(parseJson(input.body))
    const received = { ...summarizeMessage(message), input, message }
    const { id, isModern, method, cancels } = received
    const client = { identity: call.identity, session: input.headers[sessionHeader] }
    const span = startRequestSpan(tracer, received, client.session, call)
    const running = id === undefined || isModern ? undefined : runningCalls.add({ ...client, id })
    let failure: Error | undefined
    const end = (error?: unknown): void => {
      running?.[Symbol.dispose]()
      span.end(error ?? failure)
    }
    try {
      if (cancels !== undefined && !isModern) runningCalls.cancel({ ...client, id: cancels })
      const signal = running ? AbortSignal.any([call.signal, running.signal]) : call.signal
      const onToolFailure = (error: Error): void => void (failure = error)
      const response = await respond(received, { call: { ...call, signal, trace: span.trace }, onToolFailure })
      // A cancelled request gets no JSON-RPC response.
      if (running?.signal.aborted) return await toAnswer(input, new Response(null, { status: accepted }), end)
      const issuesSession = method === 'initialize' && response.ok
      return await toAnswer(input, response, end, issuesSession ? { [sessionHeader]: randomUUID() } : {})
    } catch (error) {
      end(error)
      throw error
    }
  }
  return (input, call) =>
    input.method === 'POST' ? answerMessage(input, call) : toAnswer(input, methodNotAllowed(), () => undefined)
}

/**
 * The header with the id of a client. There are no sessions: `initialize` returns a random id, which only distinguishes
 * the clients of one caller, so that a client cancels its own calls.
 */
const sessionHeader = 'mcp-session-id'
const accepted = 202

/** The call of a request, and the function that receives the error of a failed tool. */
interface Answering {
  call: CallContext
  onToolFailure: OnToolFailure
}

interface RequestScope extends Answering {
  part: RequiredFeatures
}

/** Returns the response in the format of the bus, and calls `end` after its last byte. */
const toAnswer = async (
  { wholeInHead }: HttpRequest,
  response: Response,
  end: (error?: unknown) => void,
  more: Record<string, string> = {},
): ReturnType<Http> => {
  const head = { status: response.status, headers: { ...shownHeaders(response), ...more } }
  if (head.headers['content-type']?.startsWith(eventStream)) return { head, frames: framesOf(response.body ?? [], end) }
  const text = await response.text()
  const length = Buffer.byteLength(text)
  head.headers['content-length'] = String(length)
  const isShort = wholeInHead && length <= maxMcpBufferedBytes
  end()
  return isShort
    ? { head: { ...head, whole: text }, frames: framesOf([]) }
    : { head, frames: framesOf([Buffer.from(text)]) }
}

const requireScope = <T>(scope: T | undefined): T => {
  if (scope === undefined) throw new Error('MCP server created outside a request')
  return scope
}

/**
 * Returns the request for the library. Its URL is a placeholder, and its body is empty if it was parsed already. Tool
 * calls are cancelled through their call, and subscriptions through the signal.
 */
const requestOf = (
  { method, headers, body }: HttpRequest,
  parsedBody: unknown,
  signal: AbortSignal | undefined,
): Request =>
  new Request('http://mcp/', {
    method,
    headers,
    ...(signal && { signal }),
    ...(parsedBody === undefined && { body }),
  })

/** Returns whether a request uses the legacy protocol, as the library defines it. */
const isLegacy = (
  request: Request,
  { method, headers }: HttpRequest,
  parsedBody: unknown,
): boolean | Promise<boolean> => {
  if (parsedBody === undefined) return isLegacyRequest(request)
  const { 'mcp-protocol-version': protocolVersionHeader, 'mcp-method': mcpMethodHeader } = headers
  const input = { httpMethod: method, protocolVersionHeader, mcpMethodHeader, body: parsedBody }
  return classifyInboundRequest(input).kind === 'legacy'
}

/**
 * Responds to a legacy request, with events or as JSON. The Accept header is replaced, because the library would reject
 * clients such as curl, which do not accept both.
 */
const answerLegacy = async (
  request: Request,
  parsedBody: unknown,
  { server, asEvents, signal }: { server: McpServer | Server; asEvents: boolean; signal: AbortSignal },
): Promise<Response> => {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !asEvents })
  await server.connect(transport)
  if (asEvents) signal.addEventListener('abort', () => void server.close(), { once: true })
  request.headers.set('accept', bothTypes)
  return transport.handleRequest(request, { parsedBody })
}

/** Returns the error for a missing envelope, instead of a misleading "Method not found" from the library. */
const createMissingEnvelopeResponse = (id: string | number): Response => {
  const message = `Invalid params: server/discover needs _meta with ${PROTOCOL_VERSION_META_KEY} and ${CLIENT_CAPABILITIES_META_KEY}`
  const error = { code: ProtocolErrorCode.InvalidParams, message, data: { envelope: { missing: ['_meta'] } } }
  return Response.json({ jsonrpc: '2.0', id, error }, { status: 400 })
}

const methodNotAllowed = (): Response =>
  Response.json(
    {
      jsonrpc: '2.0',
      error: { code: -32_000, message: 'Method not allowed: there are no sessions; use POST.' },
      id: null,
    },
    { status: 405, headers: { Allow: 'POST' } },
  )

const shownHeaders = ({ headers }: Response): Record<string, string> =>
  Object.fromEntries(mcpResponseHeaders.flatMap((name) => [[name, headers.get(name)]].filter(isPresent)))

const isPresent = (entry: (string | null)[]): entry is [string, string] => entry[1] !== null

async function* framesOf(
  body: AsyncIterable<Uint8Array> | readonly Uint8Array[],
  end?: () => void,
): AsyncGenerator<Uint8Array, Record<string, never>, void> {
  try {
    yield* body
    return {}
  } finally {
    end?.()
  }
}
