import type { Response } from 'express'
import type { Identity } from '#proto/call.ts'
import type { ErrorDetails } from '#proto/errors.ts'

/** One request and what became of it, for its log line and metrics. */
export interface Exchange {
  requestId: string
  /** Template of the route, so that labels stay few. */
  route: string
  /** Who asks; known once the request was let in. */
  identity?: Identity
  /** How that route words failures, if not as all others do. */
  refusal?: Refusal | undefined
  /** What a failure of that route says of signing in, if more than all others. */
  challenge?(shown: Shown): string | undefined
  /** `performance.now()` when the head had arrived. */
  startedAtMs: number
}

/** Begun by the first middleware, so everything after it finds one. */
export const beginExchange = (response: Response, exchange: Exchange): void => {
  response.locals.exchange = exchange
}

/** The exchange that an answer belongs to. */
export const exchangeOf = (response: Response): Exchange => response.locals.exchange

/** A failure of HTTP itself, which no service could have: it has no code on the bus. */
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

/** What proxies log when their client left before the answer. */
export const clientClosedStatus = 499

/** Why work for a caller that has left is cancelled; nobody reads it as an answer, and it is no failure of ours. */
export const callerLeft = (): HttpError =>
  new HttpError(clientClosedStatus, 'client-closed-request', 'the caller left before the answer had ended')

/** A failure as HTTP shows it. */
export interface Shown {
  status: number
  type: string
  message: string
  details?: ErrorDetails | undefined
  retryAfterMs?: number | undefined
}

/** A failure in the words of a standard that has its own. */
export type Refusal = (shown: Shown) => { status: number; body: unknown }
