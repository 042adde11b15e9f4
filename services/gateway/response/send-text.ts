import compression from 'compression'
import type { Request, Response } from 'express'

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

/** As strict as for every answer of the API, but that the page may carry its own style. */
const policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

/** Answers with a page of its own that runs and loads nothing. */
export const sendPage = (request: Request, response: Response, html: string): void => {
  response.setHeader('Content-Security-Policy', policy)
  sendText(request, response, 200, html, 'text/html; charset=utf-8')
}

/** Below this an answer fits few packets, and compressing it would cost more than it saves. */
const compressFromBytes = 4_096

const middleware = compression({ threshold: 0 })

/** Lets whatever is written from now on be compressed as the caller accepts; small answers never come here and pay nothing. */
export const compress = (request: Request, response: Response, write: () => void): void => {
  middleware(request, response, write)
}

/**
 * Ends an answer with all of its body once the present turn of the event loop is over. All answers that one turn makes ready leave
 * together then, so that a caller that sleeps is woken once and not for each.
 */
export const end = (response: Response, body: string | Buffer): void => void setImmediate(() => response.end(body))
