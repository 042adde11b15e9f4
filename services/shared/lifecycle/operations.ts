import { once } from 'node:events'
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Registry } from 'prom-client'
import { InvalidSettings } from '../config/setting.ts'
import type { ProcessReadiness } from './readiness.ts'

/** What orchestrators and Prometheus ask this process. */
export interface OperationsOptions {
  host: string
  /** 0 takes a free one. */
  port: number
  readiness: Pick<ProcessReadiness, 'unmet'>
  metrics: Registry
}

/** The listener of this process for probes and scrapes. */
export interface Operations extends AsyncDisposable {
  /** Where it listens, as seen from this machine. */
  readonly url: string
}

const slowestRequestMs = 5_000
const maxConnections = 64

/** Serves `/livez` (the process runs), `/readyz` (503 with the unmet needs) and `/metrics` (Prometheus text). */
export const openOperations = async ({ host, port, readiness, metrics }: OperationsOptions): Promise<Operations> => {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url?.split('?', 1)[0]
    if (request.method !== 'GET' && request.method !== 'HEAD') return send(response, 405, { error: 'only GET' })
    if (path === '/livez') return send(response, 200, { live: true })
    if (path === '/readyz') return sendReadiness(response, readiness.unmet())
    if (path === '/metrics')
      return void response.setHeader('content-type', metrics.contentType).end(await metrics.metrics())
    send(response, 404, { error: 'only /livez, /readyz and /metrics' })
  }
  const server = createServer(
    { requestTimeout: slowestRequestMs, headersTimeout: slowestRequestMs },
    (request, response) => {
      answer(request, response).catch(() => response.destroy())
    },
  )
  server.maxConnections = maxConnections
  server.listen(port, host)
  await listening(server, port)
  // A listening TCP server's address is always this shape.
  const address = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${address.port}`,
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

const listening = async (server: Server, port: number): Promise<void> => {
  try {
    await once(server, 'listening')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code !== 'EADDRINUSE') throw error
    throw new InvalidSettings([{ name: 'OPERATIONS_PORT', sentence: `port ${port} is taken by another process` }])
  }
}

const sendReadiness = (response: ServerResponse, unmet: readonly string[]): void =>
  send(response, unmet.length === 0 ? 200 : 503, { ready: unmet.length === 0, unmet })

const send = (response: ServerResponse, status: number, body: object): void => {
  response
    .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    .end(JSON.stringify(body))
}
