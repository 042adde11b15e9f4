import type { Response } from 'express'
import type { Identity } from '#proto/call.ts'
import type { ErrorDetails } from '#proto/errors.ts'

/** The state of one request, for its log line and metrics. */
export interface HttpExchange {
  requestId: string
  /** Path template of the route. Unlike request paths, templates give metrics a limited number of label values. */
  route: string
  /** The caller; set by admission. */
  identity?: Identity
  /** Error format of the route, if it differs from the default. */
  errorFormat?: ErrorFormat | undefined
  /** Returns the WWW-Authenticate challenge of the route, if it differs from the default. */
  challenge?(shown: PublicError): string | undefined
  /** Value of `performance.now()` when the request headers had arrived. */
  startedAtMs: number
}

/** Attaches the exchange to a response; the first middleware calls it. */
export const attachExchange = (response: Response, exchange: HttpExchange): void => {
  response.locals.exchange = exchange
}

/** Returns the exchange of a response. */
export const getExchange = (response: Response): HttpExchange => response.locals.exchange

/** An error that exists only in HTTP and has no code on the bus. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly status: number
  readonly type: string

  constructor(status: number, type: string, sentence: string) {
    super(sentence)
    this.status = status
    this.type = type
  }
}

/** The status that proxies log for a client that disconnected before the response. */
export const clientClosedStatus = 499

/** Returns the abort reason for work of a caller that disconnected. It is never sent. */
export const createClientClosedError = (): HttpError =>
  new HttpError(clientClosedStatus, 'client-closed-request', 'the client closed the request')

/** An error as callers see it. */
export interface PublicError {
  status: number
  type: string
  message: string
  details?: ErrorDetails | undefined
  retryAfterMs?: number | undefined
}

/** Converts an error to the format of a standard, such as OAuth or JSON-RPC. */
export type ErrorFormat = (shown: PublicError) => { status: number; body: unknown }
