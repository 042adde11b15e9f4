import { once } from 'node:events'
import { type IncomingMessage, type ServerResponse, createServer, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'

/** A real host behind a gate: while it holds, statements wait before they reach the engine. */
export interface HeldHost extends AsyncDisposable {
  readonly url: string
  /** Statements that wait at the gate now and contain this text. */
  waiting(text: string): number
  hold(): void
  release(): void
}

/** Puts a gate before a host; everything passes unchanged until it is told to hold. */
export const startHeldHost = async (hostUrl: string): Promise<HeldHost> => {
  let gate: PromiseWithResolvers<void> | undefined
  const waiting = new Set<string>()
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request)
    const statement = `${decodeURIComponent(request.url ?? '')} ${body.toString()}`
    const entry = `${waiting.size}-${performance.now()} ${statement}`
    waiting.add(entry)
    await gate?.promise
    waiting.delete(entry)
    const answer = await forward(hostUrl, request, body)
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    await pipeline(answer, response)
  }
  const server = createServer((request, response) => {
    pass(request, response).catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A listening TCP server's address is always this shape.
  const { port } = server.address() as AddressInfo
  const release = () => {
    gate?.resolve()
    gate = undefined
  }
  return {
    url: `http://127.0.0.1:${port}`,
    waiting: (text) => [...waiting].filter((entry) => entry.includes(text)).length,
    hold: () => (gate ??= Promise.withResolvers()),
    release,
    [Symbol.asyncDispose]: async () => {
      release()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const forward = (
  hostUrl: string,
  { url = '/', method, headers }: IncomingMessage,
  body: Buffer,
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    send(new URL(url, hostUrl), { method, headers }).on('response', resolve).on('error', reject).end(body)
  })
