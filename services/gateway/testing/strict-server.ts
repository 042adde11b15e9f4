import { createServer, type IncomingMessage } from 'node:http'
import { onLoopback } from '#shared/net/testing/on-loopback.ts'

/** What a strict server answers; undefined means that nobody should have asked this. */
export type StrictAnswer = { status?: number; json: unknown } | { location: string } | undefined

/** A server of somebody else, on a port of its own. */
export interface StrictServer extends AsyncDisposable {
  /** Without a slash at its end. */
  url: string
  /** Method and path of every request, in order. */
  heard: string[]
}

/** Starts a server that answers 400 to whatever it is not meant to be asked. */
export const startStrictServer = async (
  answer: (request: IncomingMessage, url: URL) => Promise<StrictAnswer> | StrictAnswer,
): Promise<StrictServer> => {
  const heard: string[] = []
  const server = createServer(async (request, response) => {
    const asked = new URL(request.url ?? '/', 'http://fake')
    heard.push(`${request.method} ${asked.pathname}`)
    const answered = (await answer(request, asked)) ?? { status: 400, json: { error: 'not asked like this' } }
    if ('location' in answered) response.writeHead(302, { location: answered.location }).end()
    else
      response
        .writeHead(answered.status ?? 200, { 'content-type': 'application/json' })
        .end(JSON.stringify(answered.json))
  })
  const { origin, stop } = await onLoopback(server)
  return {
    url: origin,
    heard,
    [Symbol.asyncDispose]: stop,
  }
}
