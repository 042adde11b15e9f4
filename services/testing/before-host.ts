import { createServer, type IncomingMessage, request as send, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { onLoopback } from '#shared/net/testing/on-loopback.ts'

/** A proxy in front of a host. */
export interface BeforeHost extends AsyncDisposable {
  readonly url: string
}

/** An exception of a host that rejects a statement, with its code and message. */
export class Refusal {
  readonly code: number
  readonly words: string
  constructor(code: number, words: string) {
    this.code = code
    this.words = words
  }
}

/**
 * Receives each request before the host and returns the body to forward. Returns undefined to report success without
 * forwarding, or a refusal to return an exception.
 */
export type Look = (body: Buffer, url: string) => Promise<Buffer | string | Refusal | undefined>

/** Starts a proxy in front of a real host. It forwards the body that `look` returns and returns the response unchanged. */
export const startBeforeHost = async (hostUrl: string, look: Look): Promise<BeforeHost> => {
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await look(await buffer(request), request.url ?? '/')
    if (body === undefined) return void response.end()
    if (body instanceof Refusal) return refuse(response, body)
    const answer = await forward(hostUrl, request, body)
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    await pipeline(answer, response)
  }
  const server = createServer((request, response) => {
    pass(request, response).catch(() => response.destroy())
  })
  const { origin, stop } = await onLoopback(server)
  return {
    url: origin,
    [Symbol.asyncDispose]: stop,
  }
}

const refuse = (response: ServerResponse, { code, words }: Refusal): void => {
  response.writeHead(500, { 'x-clickhouse-exception-code': String(code) })
  response.end(`Code: ${code}. DB::Exception: ${words}`)
}

const forward = (
  hostUrl: string,
  { url = '/', method, headers }: IncomingMessage,
  body: Buffer | string,
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    // Headers that describe the original body.
    const { 'content-length': _length, 'transfer-encoding': _encoding, ...others } = headers
    send(new URL(url, hostUrl), { method, headers: others }).on('response', resolve).on('error', reject).end(body)
  })
