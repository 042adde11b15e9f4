import type { z } from 'zod'
import type { Stream, Streaming } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Begun } from './ask.ts'
import type { Exchange } from './exchange.ts'
import { decodeJson, joinBodies } from './body.ts'

/** The body of an answer that comes in frames, put together again. */
export const gather = async (exchange: Exchange, answerBytes: number): Promise<Uint8Array> => {
  const parts: Uint8Array[] = []
  let bytes = 0
  for (;;) {
    const taken = await exchange.take()
    if ('tail' in taken) return joinBodies(parts)
    bytes += taken.frame.byteLength
    parts.push(taken.frame)
    if (bytes <= answerBytes) continue
    const error = new ServiceError('too-large', `The answer is longer than ${answerBytes} bytes.`)
    exchange.leave(error)
    throw error
  }
}

/** A JSON body as its contract states it; fields that it does not name are left out. */
export const parse = <S extends z.ZodType>(schema: S, body: Uint8Array): z.output<S> => {
  try {
    return schema.parse(decodeJson(body))
  } catch (cause) {
    throw new ServiceError('internal', 'The answer does not fit its contract.', { cause })
  }
}

/** A stream whose head has come. Its frames can be read once; leaving the loop early cancels the producer. */
export const readStream = (method: Stream, { exchange, first }: Begun): Streaming<unknown, unknown, unknown> => {
  const schema = method.frames.kind === 'json' ? method.frames.schema : undefined
  let tail: { value: unknown } | undefined

  const frames = async function* () {
    try {
      for (;;) {
        const taken = await exchange.take()
        if ('frame' in taken) {
          yield schema ? parse(schema, taken.frame) : taken.frame
          continue
        }
        tail = { value: parse(method.tail, taken.tail) }
        return
      }
    } finally {
      if (!tail) exchange.leave(left())
    }
  }
  try {
    return { head: parse(method.head, first.body), frames: frames(), tail: () => known(tail) }
  } catch (error) {
    exchange.leave(error)
    throw error
  }
}

const known = (tail: { value: unknown } | undefined): unknown => {
  if (tail) return tail.value
  throw new Error('the tail is known when all frames have been read')
}

const left = () => new DOMException('The reader left before the end.', 'AbortError')
