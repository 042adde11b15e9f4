import type { Request, Response } from 'express'
import { sendText } from './send-json.ts'

/** As strict as for every answer of the API, but that the page may carry its own style. */
const policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

/** Answers with a page of its own that runs and loads nothing. */
export const sendPage = (request: Request, response: Response, html: string): void => {
  response.setHeader('Content-Security-Policy', policy)
  sendText(request, response, 200, html, 'text/html; charset=utf-8')
}
