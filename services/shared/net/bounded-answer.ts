import { NetFailure } from './failure.ts'

interface Answered {
  status: number
  statusText: string
  headers: Iterable<[string, string]>
  /** Null for a status whose answers have none. */
  body: AsyncIterable<Uint8Array<ArrayBuffer>> | null
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
  new Response(body ? streamOf(bounded(body, bounds)) : null, {
    status,
    statusText,
    headers: [...headers],
  })

const streamOf = (chunks: AsyncGenerator<Uint8Array<ArrayBuffer>, void>): ReadableStream<Uint8Array<ArrayBuffer>> =>
  new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await chunks.return()
    },
  })

async function* bounded(body: AsyncIterable<Uint8Array<ArrayBuffer>>, { host, maxBytes, translate }: Bounds) {
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
