import { NetFailure } from './failure.ts'

/** Statuses whose answers have no body at all. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304])

interface Answered {
  status: number
  statusText: string
  headers: Iterable<[string, string]>
  body: AsyncIterable<Uint8Array> | null
}

interface Bounds {
  host: string
  /** Of the body after decompression. */
  maxBytes: number
  /** What a failure of the body means. */
  translate(error: unknown): unknown
}

/** The same answer, whose body fails once it exceeds its bound. */
export const boundedAnswer = ({ status, statusText, headers, body }: Answered, bounds: Bounds): Response =>
  new Response(body && !bodiless.has(status) ? ReadableStream.from(bounded(body, bounds)) : null, {
    status,
    statusText,
    headers: [...headers],
  })

async function* bounded(body: AsyncIterable<Uint8Array>, { host, maxBytes, translate }: Bounds) {
  let bytes = 0
  try {
    for await (const chunk of body) {
      bytes += chunk.length
      if (bytes > maxBytes) throw new NetFailure('too-large', { host })
      yield chunk
    }
  } catch (error) {
    throw translate(error)
  }
}
