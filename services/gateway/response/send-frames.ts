import { pipeline } from 'node:stream/promises'
import type { Request, Response } from 'express'
import { compress } from './compress.ts'
import { orLeft } from './or-left.ts'

/**
 * Answers with bytes as they come, no faster than the caller reads; a caller who leaves ends them. The head waits for
 * the first piece, so that what fails at once has a status of its own.
 */
export const sendFrames = async (
  request: Request,
  response: Response,
  head: Readonly<Record<string, string>>,
  body: AsyncGenerator<Uint8Array, void, void>,
): Promise<void> => {
  const first = await body.next()
  response.statusCode = 200
  for (const [name, value] of Object.entries(head)) response.setHeader(name, value)
  if (request.method === 'HEAD' || first.done) {
    await body.return()
    response.end()
    return
  }
  const compressed = Promise.withResolvers<void>()
  compress(request, response, compressed.resolve)
  await compressed.promise
  await orLeft(pipeline(startingWith(first.value, body), response))
}

async function* startingWith(
  first: Uint8Array,
  rest: AsyncGenerator<Uint8Array, void, void>,
): AsyncGenerator<Uint8Array, void, void> {
  try {
    yield first
    yield* rest
  } finally {
    await rest.return()
  }
}
