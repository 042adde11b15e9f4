import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listenOnLoopback } from '#shared/net/testing/loopback-server.ts'
import { httpGetResponses, httpPostResponses, GrpcError } from './replication-responses.ts'
import { type ReplicationFleet, createShopFleet } from './replication-fleet.ts'

interface Options {
  /** The password for HTTP Basic with an empty user. Without it, requests need no authentication. */
  password?: string
  /** `web`: the web application serves the API below `/api`. `api` (default): the API is served at the root. */
  form?: 'web' | 'api'
  fleet?: ReplicationFleet
}

/** A simulated replication service; it rejects unknown paths, methods, bodies and passwords as the real one does. */
export interface SimulatedReplicationService extends AsyncDisposable {
  /** The value for REPLDB_API_URL, without a trailing slash. */
  url: string
  /** Method and path of every request, in order. */
  requests: string[]
  fleet: ReplicationFleet
  /** While set, every request fails with this status and a message that contains secrets. */
  failing: number | undefined
  /** While set, requests get no response. */
  isHung: boolean
}

/** Starts the simulated service on a free port of the loopback interface. */
export const startReplicationService = async (options: Options = {}): Promise<SimulatedReplicationService> => {
  const prefix = options.form === 'web' ? '/api' : ''
  const requests: string[] = []
  const state = { requests, fleet: options.fleet ?? createShopFleet(), failing: undefined, isHung: false }
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://stand-in')
    standIn.requests.push(`${request.method} ${request.url}`)
    const body = await bodyOf(request)
    if (standIn.isHung) return
    try {
      if (standIn.failing)
        throw new GrpcError(standIn.failing, 13, 'postgres://replicator:hunter2-source@db.internal failed')
      requirePassword(request, options.password)
      if (!pathname.startsWith(`${prefix}/v1/`)) {
        // The web application serves its page for unknown paths.
        response.writeHead(options.form === 'web' ? 200 : 404, { 'content-type': 'text/html' }).end('<!doctype html>')
        return
      }
      send(response, 200, answer(standIn.fleet, request.method, pathname.slice(prefix.length + 4), body))
    } catch (error) {
      if (!(error instanceof GrpcError)) throw error
      send(response, error.status, { code: error.code, message: error.message, details: [] })
    }
  })
  const { origin, stop } = await listenOnLoopback(server)
  const standIn: SimulatedReplicationService = {
    ...state,
    url: `${origin}${prefix}`,
    [Symbol.asyncDispose]: stop,
  }
  return standIn
}

const requirePassword = ({ headers }: IncomingMessage, password: string | undefined): void => {
  if (password === undefined) return
  const wanted = `Basic ${Buffer.from(`:${password}`).toString('base64')}`
  if (headers.authorization !== wanted) throw new GrpcError(401, 16, 'Unauthorized')
}

const answer = (fleet: ReplicationFleet, method: string | undefined, path: string, body: string): object => {
  const named = path.replace(/^(.*\/)([^/]+)$/, '$1*')
  const get = httpGetResponses[path] ?? httpGetResponses[named]
  const post = httpPostResponses[path]
  if (method === 'POST' && post) return post(fleet, jsonOf(body))
  if (method === 'GET' && get) return get(fleet, decodeURIComponent(path.split('/').at(-1) ?? ''))
  // The gRPC gateway responds with 501 to an unsupported method.
  throw get || post ? new GrpcError(501, 12, 'Method Not Allowed') : new GrpcError(404, 5, 'Not Found')
}

const jsonOf = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    throw new GrpcError(400, 3, 'the body is not JSON')
  }
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

const send = (response: ServerResponse, status: number, json: object): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
}
