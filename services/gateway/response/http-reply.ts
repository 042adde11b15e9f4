import { hash } from 'node:crypto'
import type { Request, Response } from 'express'
import { type Download, sendDownload, sendGzipped, type Handed, sendStream, sendText, sendPage } from './send.ts'
import { sendRows, type Rows } from './envelope.ts'

/** What an answer leaves with a browser. */
export interface Cookies {
  /** Adds one `Set-Cookie` line. */
  setCookie(line: string): void
}

/** The ways a route answers. */
export interface Reply extends Cookies {
  /** Adds a `Link` line (RFC 8288) to the answer that follows. */
  link(line: string): void
  /** Lets anybody keep the answer that follows, which is the same for all. */
  mayBeKept(seconds: number): void
  json(body: unknown, mediaType?: string): void
  /** Says that what was sent is kept, and what is to be said of it. */
  accepted(body: unknown): void
  text(text: string, mediaType: string): void
  /** A page of its own that runs and loads nothing. */
  page(html: string): void
  /** A body that is gzipped already. */
  gzipped(body: Buffer, mediaType: string): Promise<void>
  /** JSON that the caller may keep as long as it asks each time whether it still stands. */
  revalidatedJson(body: unknown, mediaType?: string): void
  rows(rows: Rows<unknown>): Promise<void>
  download(download: Download): Promise<void>
  /** An answer of another service, its status and all. */
  handOn(answer: Handed): Promise<void>
  /** Says that there is nothing, which is no failure. */
  nothing(): void
  /** Sends a browser to another address. */
  redirect(location: string): void
}

export const replyTo = (request: Request, response: Response): Reply => ({
  json: (body, mediaType) => sendText(request, response, 200, JSON.stringify(body), mediaType),
  accepted: (body) => sendText(request, response, 202, JSON.stringify(body)),
  text: (text, mediaType) => sendText(request, response, 200, text, mediaType),
  page: (html) => sendPage(request, response, html),
  gzipped: (body, mediaType) => sendGzipped(request, response, body, mediaType),
  revalidatedJson: (body, mediaType) => sendRevalidated(request, response, body, mediaType),
  rows: (rows) => sendRows(request, response, rows),
  download: (download) => sendDownload(request, response, download),
  handOn: (answer) => sendStream(response, answer),
  redirect: (location) => {
    response.statusCode = 302
    response.setHeader('Location', location)
    response.end()
  },
  nothing: () => {
    response.statusCode = 204
    response.end()
  },
  mayBeKept: (seconds) => response.setHeader('Cache-Control', `public, max-age=${seconds}`),
  link: (line) => response.appendHeader('Link', line),
  setCookie: (line) => response.appendHeader('Set-Cookie', line),
})

const sendRevalidated = (request: Request, response: Response, body: unknown, mediaType?: string): void => {
  const text = JSON.stringify(body)
  // Weak, because the compressed and the plain form share it.
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

const matches = (given: string | undefined, tag: string): boolean =>
  given !== undefined && given.split(',').some((each) => each.trim() === tag || each.trim() === '*')
