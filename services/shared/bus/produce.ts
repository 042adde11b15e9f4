import type { Produced, Stream } from '#proto/contract.ts'
import { encodeFrame } from './conform.ts'
import type { Reply } from './reply.ts'

/** Sends what a stream's handler produces, and has the handler clean up however it ends. */
export const produce = async (
  reply: Reply,
  method: Stream,
  { head, frames }: Produced<unknown, unknown, unknown>,
  frameBytes: number,
): Promise<void> => {
  try {
    reply.head(encodeFrame(method.head, head, frameBytes))
    for (;;) {
      const step = await frames.next()
      reply.signal.throwIfAborted()
      if (step.done) return reply.end(encodeFrame(method.tail, step.value, frameBytes))
      await reply.data(frameBody(method, step.value, frameBytes))
    }
  } finally {
    await frames.return(undefined)
  }
}

/** Bytes may have any length and are cut; a JSON value fits into one frame, as half of one would be no value. */
const frameBody = ({ frames }: Stream, value: unknown, frameBytes: number): Uint8Array => {
  if (frames.kind === 'json') return encodeFrame(frames.schema, value, frameBytes)
  if (value instanceof Uint8Array) return value
  throw new Error('a stream of bytes gave something else')
}
