import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { startReportingServer } from './report-address.ts'

/**
 * A host with a fixed latency that does no work. It forwards the first occurrence of a statement to a real host. For
 * repetitions it returns the recorded response after `delayMs`. Run as a process: `node replay-host.ts <upstream>
 * <delayMs>`. `GET /recorded` returns the recorded requests with their counts.
 */
interface Recording {
  request: { method: string; path: string; headers: Record<string, string>; body: string }
  status: number
  headers: Record<string, string>
  answer: Buffer
  hits: number
}

/** Hop-by-hop headers, which are not forwarded. */
const perConnection = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'host'])

const [upstream = '', delay = '2'] = process.argv.slice(2)
const delayMs = Number(delay)
const recordings = new Map<string, Recording>()

const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  if (request.url === '/recorded') {
    response.end(
      JSON.stringify([...recordings.values()].map(({ request: recorded, hits }) => ({ request: recorded, hits }))),
    )
    return
  }
  const body = await text(request)
  const key = keyOf(request, body)
  const known = recordings.get(key)
  if (known) {
    known.hits++
    setTimeout(() => answer(response, known), delayMs)
    return
  }
  const recorded = await record(request, body)
  recordings.set(key, recorded)
  answer(response, recorded)
}

const record = async (request: IncomingMessage, body: string): Promise<Recording> => {
  const path = request.url ?? '/'
  const method = request.method ?? 'GET'
  const headers = forwardableHeaders(request.headers)
  const recorded = await fetch(new URL(path, upstream), { method, headers, ...(method === 'POST' && { body }) })
  return {
    request: { method, path, headers, body },
    status: recorded.status,
    headers: forwardableHeaders(Object.fromEntries(recorded.headers)),
    answer: Buffer.from(await recorded.arrayBuffer()),
    hits: 1,
  }
}

const answer = (response: ServerResponse, recorded: Recording): void => {
  response.writeHead(recorded.status, { ...recorded.headers, 'content-length': recorded.answer.length })
  response.end(recorded.answer)
}

/** Returns the key of a request. It ignores the query id, which differs each time. */
const keyOf = (request: IncomingMessage, body: string): string => {
  const url = new URL(request.url ?? '/', 'http://host')
  url.searchParams.delete('query_id')
  return `${request.method} ${url.pathname}${url.search}\n${body}`
}

const text = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8')
}

const forwardableHeaders = (headers: Record<string, string | string[] | undefined>): Record<string, string> => {
  const kept = Object.entries(headers).filter(([name]) => !perConnection.has(name) && name !== 'content-encoding')
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]))
}

const server = createServer((request, response) => {
  handle(request, response).catch((error: unknown) => {
    response.writeHead(502).end(String(error))
  })
})
startReportingServer(server)
