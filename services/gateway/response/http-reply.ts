import { hash } from 'node:crypto'
import type { Request, Response } from 'express'
import { addDateTimes } from '#proto/http/date-times.ts'
import {
  type Download,
  sendDownload,
  sendGzipped,
  type ForwardedResponse,
  sendStream,
  sendText,
  sendPage,
} from './send.ts'
import { sendRows, type RowStream } from './envelope.ts'

/** Sets cookies of a response. */
export interface ResponseCookies {
  /** Adds a `Set-Cookie` header. */
  setCookie(line: string): void
}

/** The responses that a route can send. */
export interface Reply extends ResponseCookies {
  /** Adds a `Link` header (RFC 8288) to the response. */
  link(line: string): void
  /** Allows shared caches to store the response. It must be the same for all callers. */
  allowCaching(seconds: number): void
  json(body: unknown, mediaType?: string): void
  /** Sends 202 for data that is stored and will be processed later. */
  accepted(body: unknown): void
  text(text: string, mediaType: string): void
  /** Sends a self-contained HTML page without scripts. */
  page(html: string): void
  /** Sends a body that is already gzipped. */
  gzipped(body: Buffer, mediaType: string): Promise<void>
  /** Sends JSON with an ETag, or 304 if the caller has it. */
  revalidatedJson(body: unknown, mediaType?: string): void
  rows(rows: RowStream<unknown>): Promise<void>
  download(download: Download): Promise<void>
  /** Forwards the response of another service, including its status. */
  forward(response: ForwardedResponse): Promise<void>
  /** Sends 204. */
  nothing(): void
  /** Sends a redirect (302). */
  redirect(location: string): void
}

export const createReply = (request: Request, response: Response): Reply => ({
  json: (body, mediaType) => sendText(request, response, 200, addDateTimes(JSON.stringify(body)), mediaType),
  accepted: (body) => sendText(request, response, 202, addDateTimes(JSON.stringify(body))),
  text: (text, mediaType) => sendText(request, response, 200, text, mediaType),
  page: (html) => sendPage(request, response, html),
  gzipped: (body, mediaType) => sendGzipped(request, response, body, mediaType),
  revalidatedJson: (body, mediaType) => sendRevalidated(request, response, body, mediaType),
  rows: (rows) => sendRows(request, response, rows),
  download: (download) => sendDownload(request, response, download),
  forward: (answer) => sendStream(response, answer),
  redirect: (location) => {
    response.statusCode = 302
    response.setHeader('Location', location)
    response.end()
  },
  nothing: () => {
    response.statusCode = 204
    response.end()
  },
  allowCaching: (seconds) => response.setHeader('Cache-Control', `public, max-age=${seconds}`),
  link: (line) => response.appendHeader('Link', line),
  setCookie: (line) => response.appendHeader('Set-Cookie', line),
})

const sendRevalidated = (request: Request, response: Response, body: unknown, mediaType?: string): void => {
  const text = addDateTimes(JSON.stringify(body))
  // The ETag is weak, because the compressed and the plain response share it.
  const tag = `W/"${hash('sha256', text, 'base64url')}"`
  response.setHeader('Cache-Control', 'private, no-cache')
  response.setHeader('ETag', tag)
  response.vary('Accept-Encoding')
  if (!matches(request.headers['if-none-match'], tag)) {
    sendText(request, response, 200, text, mediaType)
    return
  }
  response.statusCode = 304
  response.end()
}

const matches = (header: string | undefined, tag: string): boolean =>
  header !== undefined && header.split(',').some((each) => each.trim() === tag || each.trim() === '*')
