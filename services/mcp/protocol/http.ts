import { AsyncLocalStorage } from 'node:async_hooks'
import {
  createMcpHandler,
  isLegacyRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { Logger } from 'pino'
import type { Call } from '#proto/call.ts'
import type { Handlers } from '#proto/contract.ts'
import { longestMcpBody, type mcp, mcpAnswerHeaders } from '#proto/mcp.ts'

type Http = Handlers<typeof mcp>['http']
type Asked = Parameters<Http>[0]

/** Streams of a client that waits for changes, of which there are none. */
const maxSubscriptions = 64
const maxFrameBytes = 256 * 1024
const eventStream = 'text/event-stream'
const bothTypes = `application/json, ${eventStream}`

interface HttpOptions {
  serverFor: (call: Call) => McpServer
  log: Logger
}

/** Both eras of the protocol behind one address, without sessions. */
export const openHttp = ({ serverFor, log }: HttpOptions): { answer: Http } & AsyncDisposable => {
  // The library makes a server for each request and hands it nothing of ours.
  const calls = new AsyncLocalStorage<Call>()
  const onerror = (error: Error) => log.debug({ reason: error.message }, 'request refused by the protocol')
  const modern = createMcpHandler(() => serverFor(required(calls.getStore())), {
    legacy: 'reject',
    maxSubscriptions,
    maxRequestBodySize: longestMcpBody,
    onerror,
  })

  const respond = async (request: Request, call: Call): Promise<Response> => {
    const isPost = request.method === 'POST'
    if (isPost && !(await isLegacyRequest(request))) return calls.run(call, () => modern.fetch(request))
    return isPost ? answerClassic(request, serverFor(call)) : methodNotAllowed()
  }

  return {
    answer: async (asked, call) => {
      const response = await respond(requestOf(asked, call), call)
      return { head: { status: response.status, headers: shownHeaders(response) }, frames: framesOf(response) }
    },
    [Symbol.asyncDispose]: () => modern.close(),
  }
}

const required = (call: Call | undefined): Call => {
  if (call === undefined) throw new Error('a server was made outside a request')
  return call
}

/** The address is of no meaning here: the gateway has routed the request. */
const requestOf = ({ method, headers, body }: Asked, { signal }: Call): Request =>
  new Request('http://mcp/', {
    method,
    headers,
    signal,
    ...(method === 'POST' && { body: Buffer.from(body, 'base64') }),
  })

/** A client that takes no events, such as curl, gets plain JSON, which the library would refuse it. */
const answerClassic = async (request: Request, server: McpServer): Promise<Response> => {
  const accept = request.headers.get('accept') ?? ''
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !accept.includes(eventStream) })
  await server.connect(transport)
  request.headers.set('accept', bothTypes)
  return transport.handleRequest(request)
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
  Object.fromEntries(mcpAnswerHeaders.flatMap((name) => [[name, headers.get(name)]].filter(isGiven)))

const isGiven = (entry: (string | null)[]): entry is [string, string] => entry[1] !== null

async function* framesOf({ body }: Response): AsyncGenerator<Uint8Array, Record<string, never>, void> {
  for await (const chunk of body ?? []) {
    for (let at = 0; at < chunk.byteLength; at += maxFrameBytes) yield chunk.subarray(at, at + maxFrameBytes)
  }
  return {}
}
