import type { RequestHandler, Response } from 'express'
import { metrics } from '#shared/telemetry/metrics.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import { beginExchange, type Exchange } from './exchange.ts'
import { clientClosedStatus } from '../response/http-error.ts'
import { requestId } from './request-id.ts'
import { requireSound } from './require-sound.ts'
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
