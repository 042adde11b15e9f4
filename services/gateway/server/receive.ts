import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { RequestHandler, Response } from 'express'
import { ServiceError } from '#proto/errors.ts'
import { metrics } from '#shared/telemetry/metrics.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import { clientClosedStatus, HttpError } from '../response/http-error.ts'
import { beginExchange, type Exchange } from '../response/http-exchange.ts'
import type { HeaderLines, SecurityHeaders } from './security-headers.ts'

/** Longest path that a log line quotes. */
const loggedPathLength = 200

/** First of the application to see a request and last to see its answer: id, headers, metrics, one log line. */
export const receive = ({ log, metrics: registry }: Telemetry, headers: SecurityHeaders): RequestHandler => {
  const duration = metrics.httpRequestDuration(registry)
  const finished = (method: string, path: string, response: Response, exchange: Exchange): void => {
    const tookMs = performance.now() - exchange.startedAtMs
    const status = response.writableFinished ? response.statusCode : clientClosedStatus
    duration.observe({ route: exchange.route, method, status }, tookMs / 1000)
    if (!log.isLevelEnabled('debug')) return
    const { requestId, route } = exchange
    log.debug({ requestId, method, route, path, status, tookMs }, 'request answered')
  }

  return (request, response, next) => {
    const startedAtMs = performance.now()
    const id = requestId(request.headers['x-request-id'])
    const path = pathOf(request.url)
    const isApi = /^\/api(\/|$)/i.test(path)
    const exchange: Exchange = { requestId: id, route: isApi ? 'unknown' : 'web', startedAtMs }
    beginExchange(response, exchange)
    response.setHeader('X-Request-Id', id)
    setAll(response, isApi ? headers.api : headers.page)
    response.once('close', () => finished(request.method, path.slice(0, loggedPathLength), response, exchange))
    requireSound(request)
    next()
  }
}

/** The path of a request target, without its query; the listener lets no target in that anything reads as another path. */
export const pathOf = (url: string): string => {
  const end = url.indexOf('?')
  return end === -1 ? url : url.slice(0, end)
}

/** Sets headers that are the same for every answer of their kind. */
export const setAll = (response: Response, lines: HeaderLines): void => {
  for (const [name, value] of lines) response.setHeader(name, value)
}

/** What a proxy in front may have given: nothing that could forge a log line or a header. */
const sane = /^[\w.:-]{1,64}$/

/** The id that a proxy gave the request, or a new one. */
export const requestId = (given: string | string[] | undefined): string =>
  typeof given === 'string' && sane.test(given) ? given : randomUUID()

/** More than browsers and the proxies behind them send; Node itself would drop what it thinks too many and say nothing. */
const maxHeaderFields = 100
/** Fields that mean two things to two readers when they are given twice. */
const givenOnce = ['host', 'authorization']

/** Refuses requests that HTTP's grammar lets through and that no honest client sends. */
const requireSound = ({ rawHeaders, headers, httpVersionMinor }: IncomingMessage): void => {
  if (headers.host === undefined && httpVersionMinor > 0)
    throw new ServiceError('invalid', 'the Host header is missing')
  if (rawHeaders.length / 2 > maxHeaderFields) {
    throw new HttpError(431, 'too-large', `more than ${maxHeaderFields} header fields`)
  }
  for (const name of givenOnce) {
    if (timesGiven(name, rawHeaders) > 1) throw new ServiceError('invalid', `the header ${name} may be given only once`)
  }
}

const timesGiven = (name: string, rawHeaders: readonly string[]): number => {
  let times = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at]
    if (given?.length === name.length && given.toLowerCase() === name) times += 1
  }
  return times
}
