import { once } from 'node:events'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'

/** The readiness of the process, which the main thread reports. */
export interface ProcessState {
  unmet: readonly string[]
  problems: Readonly<Record<string, string>>
}

/** The options of the listener thread. */
export interface ListenerOptions {
  host: string
  /** 0 selects a free port. */
  port: number
  /** `/livez` returns 503 if the main thread has not reported for this time. */
  hungAfterMs: number
  /** The process state until the main thread sends its first report. */
  state: ProcessState
}

/** A message to the listener thread: a state, or the metrics for a scrape. Without `text`, collecting them failed. */
export type ListenerRequest = { state: ProcessState } | { scrape: number; type?: string; text?: string }
/** A message from the listener thread: its port, the error code of a failed listen, or a request for the metrics. */
export type ListenerReply = { port: number } | { code: string } | { scrape: number }

const maxRequestMs = 5_000
const maxConnections = 64

/** Runs the HTTP listener for probes and scrapes in this thread. */
const main = async ({ host, port, hungAfterMs, state: first }: ListenerOptions): Promise<void> => {
  let state = first
  let heardMs = performance.now()
  let scrapes = 0
  const scraping = new Map<number, ServerResponse>()
  const isHung = (): boolean => performance.now() - heardMs > hungAfterMs
  const scrape = (response: ServerResponse): void => {
    const id = scrapes++
    scraping.set(id, response)
    response.once('close', () => scraping.delete(id))
    post({ scrape: id })
  }
  parentPort?.on('message', (message: ListenerRequest) => {
    heardMs = performance.now()
    if ('state' in message) state = message.state
    else sendMetrics(scraping.get(message.scrape), message)
  })
  const server = createServer(
    { requestTimeout: maxRequestMs, headersTimeout: maxRequestMs },
    ({ method, url }: IncomingMessage, response) => {
      const path = url?.split('?', 1)[0]
      if (method !== 'GET' && method !== 'HEAD')
        return send(response, 405, { error: 'method not allowed; allowed: GET, HEAD' })
      if (path === '/livez') return send(response, isHung() ? 503 : 200, { live: !isHung() })
      if (path === '/readyz')
        return sendReadiness(response, isHung() ? { ...state, unmet: [...state.unmet, 'event loop'] } : state)
      if (path === '/metrics') return scrape(response)
      send(response, 404, { error: 'not found; available: /livez, /readyz, /metrics' })
    },
  )
  server.maxConnections = maxConnections
  try {
    server.listen(port, host)
    await once(server, 'listening')
    // The address of a listening TCP server is never a string or null.
    post({ port: (server.address() as AddressInfo).port })
  } catch (error) {
    post({ code: error instanceof Error && 'code' in error ? String(error.code) : String(error) })
  }
}

const post = (message: ListenerReply): void => parentPort?.postMessage(message)

const sendMetrics = (response: ServerResponse | undefined, { type, text }: { type?: string; text?: string }): void => {
  if (type === undefined) response?.destroy()
  else response?.setHeader('content-type', type).end(text)
}

const sendReadiness = (response: ServerResponse, { unmet, problems }: ProcessState): void => {
  const reasons = Object.keys(problems).length > 0 && { problems }
  send(response, unmet.length === 0 ? 200 : 503, { ready: unmet.length === 0, unmet, ...reasons })
}

const send = (response: ServerResponse, status: number, body: object): void => {
  response
    .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    .end(JSON.stringify(body))
}

// `startOperationsServer` starts this file with these options.
await main(workerData as ListenerOptions)
