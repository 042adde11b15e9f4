// Consumes a stream in a thread whose heap is limited by its creator, and reports the number of its parts.
import { parentPort, workerData } from 'node:worker_threads'
import { z } from 'zod'
import { createClient } from '../client.ts'

const { url, kind } = z.object({ url: z.string(), kind: z.enum(['lines', 'events', 'rows', 'all']) }).parse(workerData)
const client = createClient({ url })

const count = async (parts: AsyncIterable<unknown>): Promise<number> => {
  let total = 0
  for await (const _part of parts) total += 1
  return total
}

const body = { query: 'SELECT 1' }
const consume = {
  lines: () => count(client.lines('POST /api/v1/explorer/query', { body: { ...body, format: 'jsoneachrow' } })),
  events: () => count(client.events('GET /api/v1/agent/{id}/stream', { path: { id: 'run' } })),
  rows: async () => {
    const { rows, metadata } = await client.rows('POST /api/v1/explorer/query', { body })
    const total = await count(rows)
    return metadata().rows === total ? total : -1
  },
  /** Keeps everything, which must exceed the limit: it proves that the limit is effective. */
  all: async () => (await client.call('POST /api/v1/explorer/query', { body })).data.rows.length,
}
parentPort?.postMessage(await consume[kind]())
