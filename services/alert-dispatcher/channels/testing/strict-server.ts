import { createServer, type IncomingMessage } from 'node:http'
import { listenOnLoopback } from '#shared/net/testing/loopback-server.ts'

/** A received request. */
export interface ReceivedRequest {
  method: string
  path: string
  headers: Readonly<Record<string, string | string[] | undefined>>
  text: string
}

/** A response that replaces the default one. `silent` never responds, and a promise delays the default response. */
export type ScriptedResponse =
  | { status: number; headers?: Record<string, string>; body?: string }
  | 'silent'
  | Promise<void>

/** A test server that rejects requests which violate its protocol. */
export interface StrictServer extends AsyncDisposable {
  readonly url: string
  /** Accepted requests, in order. */
  readonly taken: readonly ReceivedRequest[]
  /** All requests, accepted or not. */
  readonly received: readonly ReceivedRequest[]
  /** Protocol violations. */
  readonly wrong: readonly string[]
  /** Sets the responses to the next requests, in order. */
  next(...instead: readonly ScriptedResponse[]): void
}

interface Protocol {
  /** Returns the protocol violation of a request; undefined if there is none. */
  problem(received: ReceivedRequest): string | undefined
  answer: { status: number; headers?: Record<string, string>; body: string }
}

/** Starts a server for one protocol. */
export const startStrictServer = async ({ problem, answer }: Protocol): Promise<StrictServer> => {
  const taken: ReceivedRequest[] = []
  const received: ReceivedRequest[] = []
  const wrong: string[] = []
  let planned: ScriptedResponse[] = []
  const answerTo = async (one: ReceivedRequest): Promise<Exclude<ScriptedResponse, Promise<void>>> => {
    received.push(one)
    const found = problem(one)
    if (found !== undefined) {
      wrong.push(found)
      return { status: 400, body: found }
    }
    const [instead, ...rest] = planned
    planned = rest
    if (instead instanceof Promise) await instead
    else if (instead !== undefined) return instead
    taken.push(one)
    return answer
  }
  const server = createServer((request, response) => {
    void readBody(request).then(async (text) => {
      const { method = '', url = '', headers } = request
      const reply = await answerTo({ method, path: url, headers, text })
      if (reply !== 'silent') response.writeHead(reply.status, reply.headers).end(reply.body)
    })
  })
  const { origin, stop } = await listenOnLoopback(server)
  return {
    url: origin,
    taken,
    received,
    wrong,
    next: (...instead) => void (planned = [...planned, ...instead]),
    [Symbol.asyncDispose]: stop,
  }
}

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString()
}
