import { createServer, type IncomingMessage, request as send, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { listenOnLoopback } from '#shared/net/testing/loopback-server.ts'

/** An HTTP proxy in front of a ClickHouse host. */
export interface HostProxy extends AsyncDisposable {
  readonly url: string
}

/** A ClickHouse exception, with its code and message. */
export class HostException {
  readonly code: number
  readonly words: string
  constructor(code: number, words: string) {
    this.code = code
    this.words = words
  }
}

/**
 * Receives the body and URL of each request and returns the body to forward. Returns undefined to respond with success
 * without forwarding the request, or an exception to respond with.
 */
export type InspectRequest = (body: Buffer, url: string) => Promise<Buffer | string | HostException | undefined>

/** Starts a proxy in front of a real host. `look` inspects requests; responses of the host are not changed. */
export const startHostProxy = async (hostUrl: string, look: InspectRequest): Promise<HostProxy> => {
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await look(await buffer(request), request.url ?? '/')
    if (body === undefined) return void response.end()
    if (body instanceof HostException) return refuse(response, body)
    const answer = await forward(hostUrl, request, body)
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    await pipeline(answer, response)
  }
  const server = createServer((request, response) => {
    pass(request, response).catch(() => response.destroy())
  })
  const { origin, stop } = await listenOnLoopback(server)
  return {
    url: origin,
    [Symbol.asyncDispose]: stop,
  }
}

const refuse = (response: ServerResponse, { code, words }: HostException): void => {
  response.writeHead(500, { 'x-clickhouse-exception-code': String(code) })
  response.end(`Code: ${code}. DB::Exception: ${words}`)
}

const forward = (
  hostUrl: string,
  { url = '/', method, headers }: IncomingMessage,
  body: Buffer | string,
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    // These headers describe the original body, which `look` may have replaced.
    const { 'content-length': _length, 'transfer-encoding': _encoding, ...others } = headers
    send(new URL(url, hostUrl), { method, headers: others }).on('response', resolve).on('error', reject).end(body)
  })
