import { createServer, type IncomingMessage } from 'node:http'
import { listenOnLoopback } from '#shared/net/testing/loopback-server.ts'

/** The response of a strict server; undefined for an unexpected request. */
export type StrictResponse = { status?: number; json: unknown } | { location: string } | undefined

/** A fake third-party server on its own port, which rejects unexpected requests. */
export interface StrictServer extends AsyncDisposable {
  /** URL of the server, without a trailing slash. */
  url: string
  /** Method and path of every request, in order. */
  received: string[]
}

/** Starts a server that returns 400 for unexpected requests. */
export const startStrictServer = async (
  answer: (request: IncomingMessage, url: URL) => Promise<StrictResponse> | StrictResponse,
): Promise<StrictServer> => {
  const received: string[] = []
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://fake')
    received.push(`${request.method} ${url.pathname}`)
    const result = (await answer(request, url)) ?? { status: 400, json: { error: 'unexpected request' } }
    if ('location' in result) response.writeHead(302, { location: result.location }).end()
    else
      response.writeHead(result.status ?? 200, { 'content-type': 'application/json' }).end(JSON.stringify(result.json))
  })
  const { origin, stop } = await listenOnLoopback(server)
  return {
    url: origin,
    received,
    [Symbol.asyncDispose]: stop,
  }
}
