import type { RequestHandler, Response } from 'express'
import { ServiceError } from '#proto/errors.ts'
import { metrics } from '#shared/telemetry/metrics.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import { beginExchange, type Exchange } from './exchange.ts'
import { clientClosedStatus } from '../response/http-error.ts'
import { requestId } from './request-id.ts'
import { requireSound } from './require-sound.ts'
import type { HeaderLines, SecurityHeaders } from './security-headers.ts'

/** Requests being answered; more are told to come back, since each holds memory until its answer has ended. */
const maxInFlight = 1_024
const busyRetryMs = 1_000
/** Longest path that a log line quotes. */
const loggedPathLength = 200

/** First to see a request and last to see its answer: id, headers, metrics, one log line. */
export const receive = ({ log, metrics: registry }: Telemetry, headers: SecurityHeaders): RequestHandler => {
  const duration = metrics.httpRequestDuration(registry)
  let inFlight = 0
  metrics.httpInFlight(registry, () => [{ labels: {}, value: inFlight }])

  const finished = (method: string, path: string, response: Response, exchange: Exchange): void => {
    inFlight -= 1
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
    inFlight += 1
    response.once('close', () => finished(request.method, path.slice(0, loggedPathLength), response, exchange))
    if (inFlight > maxInFlight)
      throw new ServiceError('busy', 'too many requests at once', { retryAfterMs: busyRetryMs })
    requireSound(request)
    next()
  }
}

const pathOf = (url: string): string => {
  const end = url.indexOf('?')
  return end === -1 ? url : url.slice(0, end)
}

/** Sets headers that are the same for every answer of their kind. */
export const setAll = (response: Response, lines: HeaderLines): void => {
  for (const [name, value] of lines) response.setHeader(name, value)
}
