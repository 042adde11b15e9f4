import { createServer, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { Pool } from 'undici'
import { z } from 'zod'
import { startReportingServer } from './report-address.ts'

/**
 * A minimal proxy, which shows the cost of any proxy on this machine. For each request it sends a fixed statement to a
 * host, parses the response as JSON and forwards it. Run as a process: `node bare-proxy.ts <connections>`, with the
 * statement on standard input.
 */
const Question = z.object({
  origin: z.url(),
  path: z.string(),
  method: z.enum(['GET', 'POST']),
  headers: z.record(z.string(), z.string()).default({}),
  body: z.string().nullable().default(null),
})

const { origin, ...question } = Question.parse(await json(process.stdin))
const pool = new Pool(origin, { connections: Number(process.argv[2]), pipelining: 1 })

const answer = async (response: ServerResponse): Promise<void> => {
  const { body } = await pool.request(question)
  const text = JSON.stringify({ data: await json(body) })
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text)
}

const server = createServer((_request, response) => {
  answer(response).catch((error: unknown) => {
    response.writeHead(502).end(String(error))
  })
})
startReportingServer(server)
