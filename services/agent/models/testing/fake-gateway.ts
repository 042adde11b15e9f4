import { createServer, type IncomingHttpHeaders } from 'node:http'
import { listenOnLoopback } from '#shared/net/testing/loopback-server.ts'

/** A request that the fake gateway received. */
export interface ReceivedRequest {
  method: string
  /** The path with the query string. */
  path: string
  headers: IncomingHttpHeaders
  body: string
}

/** A response: JSON, a redirect, or a plain body. */
export interface FakeResponse {
  status?: number
  json?: unknown
  body?: string
  location?: string
}

/** A fake model gateway on its own port. It responds with status 418 to unexpected requests. */
export interface FakeGateway extends AsyncDisposable {
  /** The base URL, including the path. */
  base: string
  received: ReceivedRequest[]
  /** Responses keyed by method and path without query, such as `GET /v1/models`. Tests may change them. */
  responses: Record<string, FakeResponse>
}

export const startFakeGateway = async (responses: FakeGateway['responses'] = {}): Promise<FakeGateway> => {
  const received: ReceivedRequest[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { method = '', url: path = '', headers } = request
    received.push({ method, path, headers, body: Buffer.concat(chunks).toString('utf8') })
    const [pathname = ''] = path.split('?')
    const { status = 200, json, body, location } = responses[`${method} ${pathname}`] ?? { status: 418, json: {} }
    if (location !== undefined) response.writeHead(307, { location }).end()
    else response.writeHead(status, { 'content-type': 'application/json' }).end(body ?? JSON.stringify(json))
  })
  const { origin, stop } = await listenOnLoopback(server)
  return {
    base: `${origin}/v1`,
    received,
    responses,
    [Symbol.asyncDispose]: stop,
  }
}
