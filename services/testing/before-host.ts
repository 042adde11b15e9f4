import { createServer, type IncomingMessage, request as send, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { onLoopback } from '#shared/net/testing/on-loopback.ts'

/** What stands before a host. */
export interface BeforeHost extends AsyncDisposable {
  readonly url: string
}

/** What a host says of a statement that it does not run: the number of an exception, and its words. */
export class Refusal {
  readonly code: number
  readonly words: string
  constructor(code: number, words: string) {
    this.code = code
    this.words = words
  }
}

/**
 * Sees each request before the host does, and gives the body that the host gets; undefined where it gets none and all is said to be
 * done, and a refusal where it is said to be refused.
 */
export type Look = (body: Buffer, url: string) => Promise<Buffer | string | Refusal | undefined>

/** Stands before a real host; what the look gives is sent on, and the host's answer comes back as it is. */
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
    // Of the body that was sent to us.
    const { 'content-length': _length, 'transfer-encoding': _encoding, ...others } = headers
    send(new URL(url, hostUrl), { method, headers: others }).on('response', resolve).on('error', reject).end(body)
  })
