import { AsyncLocalStorage } from 'node:async_hooks'
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
import { parseJson } from '#shared/text/strings.ts'
import { summarizeMessage, type RequiredFeatures } from './message-summary.ts'
import type { CreateServer } from './server.ts'

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
  log: Logger
}

/** Returns a handler for both versions of the protocol at one endpoint, without sessions. */
export const openHttpHandler = ({
  serverFor,
  sendsNotifications,
  log,
}: HttpOptions): { answer: Http } & AsyncDisposable => {
  // The library creates a server per request and passes no context to it.
  const requestScope = new AsyncLocalStorage<{ call: CallContext; part: RequiredFeatures }>()
  const onerror = (error: Error) => log.debug({ reason: error.message }, 'invalid MCP request')
  const serverNow = () => {
    const { call, part } = requireScope(requestScope.getStore())
    return serverFor(call, part)
  }
  const modern = createMcpHandler(serverNow, {
    legacy: 'reject',
    maxSubscriptions,
    maxRequestBodySize: maxMcpBodyBytes,
    onerror,
  })

  const respond = async (input: HttpRequest, call: CallContext): Promise<Response> => {
    if (input.method !== 'POST') return methodNotAllowed()
    // `parsedBody` is undefined for invalid JSON, which the library reports itself.
    const parsedBody = parseJson(input.body)
    const { part, isModern, discoveryId } = summarizeMessage(parsedBody)
    const request = requestOf(input, parsedBody, part.kind === 'tool' ? undefined : call.signal)
    if (!isModern && (await isLegacy(request, input, parsedBody))) {
      if (discoveryId !== undefined) return createMissingEnvelopeResponse(discoveryId)
      const { accept = '' } = input.headers
      const asEvents = accept.includes(eventStream) && (sendsNotifications || !accept.includes(json))
      return answerLegacy(request, parsedBody, serverFor(call, part), asEvents)
    }
    return requestScope.run({ call, part }, () => modern.fetch(request, { parsedBody }))
  }

  return {
    answer: async (input, call) => {
      const response = await respond(input, call)
      const head = { status: response.status, headers: shownHeaders(response) }
      if (head.headers['content-type']?.startsWith(eventStream)) return { head, frames: framesOf(response.body ?? []) }
      const text = await response.text()
      const length = Buffer.byteLength(text)
      head.headers['content-length'] = String(length)
      const isShort = input.wholeInHead && length <= maxMcpBufferedBytes
      return isShort
        ? { head: { ...head, whole: text }, frames: framesOf([]) }
        : { head, frames: framesOf([Buffer.from(text)]) }
    },
    [Symbol.asyncDispose]: () => modern.close(),
  }
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
  server: McpServer | Server,
  asEvents: boolean,
): Promise<Response> => {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !asEvents })
  await server.connect(transport)
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
): AsyncGenerator<Uint8Array, Record<string, never>, void> {
  yield* body
  return {}
}
