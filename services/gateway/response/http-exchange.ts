import type { Response } from 'express'
import type { Identity } from '#proto/call.ts'
import type { Refusal, Shown } from './http-error.ts'

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
