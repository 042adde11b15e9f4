import { createServer, type IncomingMessage } from 'node:http'
import { onLoopback } from '#shared/net/testing/on-loopback.ts'

/** A request as it arrived. */
export interface Received {
  method: string
  path: string
  headers: Readonly<Record<string, string | string[] | undefined>>
  text: string
}

/** An answer instead of the usual one; `silent` never answers, and a promise keeps the usual one back. */
export type Instead = { status: number; headers?: Record<string, string>; body?: string } | 'silent' | Promise<void>

/** Somebody else's server, which refuses what its protocol does not allow. */
export interface StrictServer extends AsyncDisposable {
  readonly url: string
  /** What it took, in order. */
  readonly taken: readonly Received[]
  /** Everything that came, taken or not. */
  readonly received: readonly Received[]
  /** What was wrong with what came, in words. */
  readonly wrong: readonly string[]
  /** The next requests are answered so, one after the other. */
  next(...instead: readonly Instead[]): void
}

interface Protocol {
  /** What is wrong with a request; undefined when nothing is. */
  problem(received: Received): string | undefined
  answer: { status: number; headers?: Record<string, string>; body: string }
}

/** Starts a server of one protocol. */
export const startStrictServer = async ({ problem, answer }: Protocol): Promise<StrictServer> => {
  const taken: Received[] = []
  const received: Received[] = []
  const wrong: string[] = []
  let planned: Instead[] = []
  const answerTo = async (one: Received): Promise<Exclude<Instead, Promise<void>>> => {
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
    void read(request).then(async (text) => {
      const { method = '', url = '', headers } = request
      const answered = await answerTo({ method, path: url, headers, text })
      if (answered !== 'silent') response.writeHead(answered.status, answered.headers).end(answered.body)
    })
  })
  const { origin, stop } = await onLoopback(server)
  return {
    url: origin,
    taken,
    received,
    wrong,
    next: (...instead) => void (planned = [...planned, ...instead]),
    [Symbol.asyncDispose]: stop,
  }
}

const read = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString()
}
