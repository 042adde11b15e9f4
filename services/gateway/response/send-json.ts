import type { Request, Response } from 'express'
import { compress, compressFromBytes } from './compress.ts'
import { end } from './end.ts'

/** Answers with a JSON body. */
export const sendJson = (request: Request, response: Response, status: number, body: unknown): void => {
  sendText(request, response, status, JSON.stringify(body))
}

/** Answers with text: JSON where nothing else is said. */
export const sendText = (
  request: Request,
  response: Response,
  status: number,
  text: string,
  mediaType = 'application/json',
): void => {
  response.statusCode = status
  response.setHeader('Content-Type', mediaType)
  const length = Buffer.byteLength(text)
  response.setHeader('Content-Length', length)
  if (length < compressFromBytes) end(response, text)
  else compress(request, response, () => response.end(text))
}
