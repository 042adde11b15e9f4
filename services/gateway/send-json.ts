import type { Request, Response } from 'express'
import { compress, compressFromBytes } from './compress.ts'

/** Answers with a JSON body. */
export const sendJson = (request: Request, response: Response, status: number, body: unknown): void => {
  sendJsonText(request, response, status, JSON.stringify(body))
}

/** Answers with JSON that is text already. */
export const sendJsonText = (request: Request, response: Response, status: number, text: string): void => {
  response.statusCode = status
  response.setHeader('Content-Type', 'application/json')
  const length = Buffer.byteLength(text)
  response.setHeader('Content-Length', length)
  if (length < compressFromBytes) response.end(text)
  else compress(request, response, () => response.end(text))
}
