import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { Request, Response } from 'express'
import { orLeft } from './or-left.ts'

/** Answers with a body that is gzipped already; who does not accept that gets it unpacked on the way. */
export const sendGzipped = async (
  request: Request,
  response: Response,
  body: Buffer,
  mediaType: string,
): Promise<void> => {
  response.statusCode = 200
  response.setHeader('Content-Type', mediaType)
  response.setHeader('Vary', 'Accept-Encoding')
  if (request.acceptsEncodings('gzip', 'identity') === 'gzip') {
    response.setHeader('Content-Encoding', 'gzip')
    response.setHeader('Content-Length', body.length)
    response.end(body)
  } else if (request.method === 'HEAD') {
    response.end()
  } else {
    await orLeft(pipeline(Readable.from([body]), createGunzip(), response))
  }
}
