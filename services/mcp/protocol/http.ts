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
import type { Call } from '#proto/call.ts'
import type { Handlers } from '#proto/contract.ts'
import { maxMcpBodyBytes, maxMcpBufferedBytes, type mcp, mcpResponseHeaders } from '#proto/mcp.ts'
import { parseJson } from '#shared/text/parse-json.ts'
import { glanceAt, type Part } from './part.ts'
import type { ServerFor } from './server.ts'

type Http = Handlers<typeof mcp>['http']
type Asked = Parameters<Http>[0]

/** Streams of a client that waits for changes, of which there are none. */
const maxSubscriptions = 64
const eventStream = 'text/event-stream'
const json = 'application/json'
const bothTypes = `${json}, ${eventStream}`

interface HttpOptions {
  serverFor: ServerFor
  /** Whether clients may be told anything before an answer, for which a classic one is sent events. */
  tellsOnTheWay: boolean
  log: Logger
}

/** Both eras of the protocol behind one address, without sessions. */
export const openHttp = ({ serverFor, tellsOnTheWay, log }: HttpOptions): { answer: Http } & AsyncDisposable => {
  // The library makes a server for each request and hands it nothing of ours.
  const asking = new AsyncLocalStorage<{ call: Call; part: Part }>()
  const onerror = (error: Error) => log.debug({ reason: error.message }, 'invalid MCP request')
  const serverNow = () => {
    const { call, part } = required(asking.getStore())
    return serverFor(call, part)
  }
  const modern = createMcpHandler(serverNow, {
    legacy: 'reject',
    maxSubscriptions,
    maxRequestBodySize: maxMcpBodyBytes,
    onerror,
  })

  const respond = async (asked: Asked, call: Call): Promise<Response> => {
    if (asked.method !== 'POST') return methodNotAllowed()
    // Undefined for what is no JSON: the protocol has its own words for that, which need the text.
    const parsedBody = parseJson(asked.body)
    const { part, isModern, discoveryId } = glanceAt(parsedBody)
    const request = requestOf(asked, parsedBody, part.kind === 'tool' ? undefined : call.signal)
    if (!isModern && (await isClassic(request, asked, parsedBody))) {
      if (discoveryId !== undefined) return envelopeMissing(discoveryId)
      const { accept = '' } = asked.headers
      const asEvents = accept.includes(eventStream) && (tellsOnTheWay || !accept.includes(json))
      return answerClassic(request, parsedBody, serverFor(call, part), asEvents)
    }
    return asking.run({ call, part }, () => modern.fetch(request, { parsedBody }))
  }

  return {
    answer: async (asked, call) => {
      const response = await respond(asked, call)
      const head = { status: response.status, headers: shownHeaders(response) }
      if (head.headers['content-type']?.startsWith(eventStream)) return { head, frames: framesOf(response.body ?? []) }
      const text = await response.text()
      const length = Buffer.byteLength(text)
      head.headers['content-length'] = String(length)
      const isShort = asked.wholeInHead && length <= maxMcpBufferedBytes
      return isShort
        ? { head: { ...head, whole: text }, frames: framesOf([]) }
        : { head, frames: framesOf([Buffer.from(text)]) }
    },
    [Symbol.asyncDispose]: () => modern.close(),
  }
}

const required = <T>(asking: T | undefined): T => {
  if (asking === undefined) throw new Error('a server was made outside a request')
  return asking
}

/**
 * The address is of no meaning here: the gateway has routed the request. What was parsed need not be read again. A tool ends with its
 * call, which it has; what waits for changes ends by the signal.
 */
const requestOf = ({ method, headers, body }: Asked, parsedBody: unknown, signal: AbortSignal | undefined): Request =>
  new Request('http://mcp/', {
    method,
    headers,
    ...(signal && { signal }),
    ...(parsedBody === undefined && { body }),
  })

/** By the library's own rule, which needs no request where the body is parsed. */
const isClassic = (request: Request, { method, headers }: Asked, parsedBody: unknown): boolean | Promise<boolean> => {
  if (parsedBody === undefined) return isLegacyRequest(request)
  const { 'mcp-protocol-version': protocolVersionHeader, 'mcp-method': mcpMethodHeader } = headers
  const asked = { httpMethod: method, protocolVersionHeader, mcpMethodHeader, body: parsedBody }
  return classifyInboundRequest(asked).kind === 'legacy'
}

/** An answer with nothing before it is plain JSON, for clients too that take no events, such as curl, which the library would refuse. */
const answerClassic = async (
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

/** The method is there, so to say that there is none would send whoever lacks nothing but the envelope away. */
const envelopeMissing = (id: string | number): Response => {
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
  Object.fromEntries(mcpResponseHeaders.flatMap((name) => [[name, headers.get(name)]].filter(isGiven)))

const isGiven = (entry: (string | null)[]): entry is [string, string] => entry[1] !== null

async function* framesOf(
  body: AsyncIterable<Uint8Array> | readonly Uint8Array[],
): AsyncGenerator<Uint8Array, Record<string, never>, void> {
  yield* body
  return {}
}
