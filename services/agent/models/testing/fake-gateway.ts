import { createServer, type IncomingHttpHeaders } from 'node:http'
import { onLoopback } from '#shared/net/testing/on-loopback.ts'

/** What a fake gateway was asked. */
export interface Heard {
  method: string
  /** With its query. */
  path: string
  headers: IncomingHttpHeaders
  body: string
}

/** What it answers: JSON, a redirect, or bytes as they are. */
export interface FakeAnswer {
  status?: number
  json?: unknown
  body?: string
  location?: string
}

/** A model gateway on a port of its own, which answers 418 to whatever nobody should ask it. */
export interface FakeGateway extends AsyncDisposable {
  /** With the path that the gateway is below. */
  base: string
  heard: Heard[]
  /** By path without query; changed by tests as they like. */
  answers: Record<string, FakeAnswer>
}

export const startFakeGateway = async (answers: FakeGateway['answers'] = {}): Promise<FakeGateway> => {
  const heard: Heard[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { method = '', url: path = '', headers } = request
    heard.push({ method, path, headers, body: Buffer.concat(chunks).toString('utf8') })
    const [pathname = ''] = path.split('?')
    const { status = 200, json, body, location } = answers[`${method} ${pathname}`] ?? { status: 418, json: {} }
    if (location !== undefined) response.writeHead(307, { location }).end()
    else response.writeHead(status, { 'content-type': 'application/json' }).end(body ?? JSON.stringify(json))
  })
  const { origin, stop } = await onLoopback(server)
  return {
    base: `${origin}/v1`,
    heard,
    answers,
    [Symbol.asyncDispose]: stop,
  }
}
