import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { RequestPriority } from '#proto/call.ts'
import { errorStatuses } from '#proto/errors.ts'
import { openLoopSlots } from '#shared/admission/loop-slots.ts'
import type { LoopPressure } from '#shared/admission/loop-pressure.ts'
import { type AdmissionQueue, openAdmissionQueue } from '#shared/admission/queue.ts'
import type { Environment } from '#shared/config/environment.ts'
import { metrics } from '#shared/telemetry/metrics.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import type { ErrorResponse } from '#proto/http/response.ts'
import { createClientClosedError } from '../response/http-exchange.ts'
import { createCorsMiddleware } from './cross-origin.ts'
import { getRequestPath, resolveRequestId } from './receive.ts'
import type { HeaderLines } from './security-headers.ts'

/** Maximum number of requests in flight, because each uses memory until its response has ended. */
const maxInFlight = 1_024
const overloadMessage = 'the process is overloaded'
const maxWaiting = 1_024
/** Maximum time in the queue; users do not wait longer for a page. */
const maxWaitMs = 5_000
/**
 * Maximum time that a request holds a slot. Longer requests are event streams or wait for a host or a model, which
 * uses little CPU.
 */
const maxHoldMs = 5_000
const minRetryMs = 1_000

/** Paths that bypass the queue, because orchestrators use them as probes. */
const healthPaths: ReadonlySet<string> = new Set(['/api/health', '/api/healthz'])
/** Paths of background work. */
const backgroundPath = /^\/api\/(cron\/|v1\/metrics$)/

interface CapacityDeps {
  env: Environment
  telemetry: Telemetry
  requestTimeoutMs: number
}

/**
 * Limits API requests to what the event loop can handle. While the loop is overloaded, requests wait for a slot, and
 * those that would wait too long are rejected with 503 and Retry-After. The limiter runs before the
 * application, so that a rejection costs little. `headers` are those of every API response.
 */
export const limitConcurrency = (
  application: RequestListener,
  deps: CapacityDeps,
  pressure: LoopPressure,
  headers: HeaderLines,
  holdMs = maxHoldMs,
): RequestListener => {
  const { telemetry, requestTimeoutMs } = deps
  const queue = openAdmissionQueue({ refusal: overloadMessage, maxWaiting, maxWaitMs })
  const slots = openLoopSlots(queue, pressure)
  const reject = createReject(deps, headers)
  let inFlight = 0
  metrics.httpInFlight(telemetry.metrics, () => [{ labels: {}, value: inFlight }])
  metrics.httpWaiting(telemetry.metrics, () => [{ labels: {}, value: queue.waiting }])

  /** Handles a request. Releases the slot when the response has ended, at the latest after `holdMs`. */
  const answer = (request: IncomingMessage, response: ServerResponse, leave?: () => void): void => {
    const timer = leave && setTimeout(leave, holdMs).unref()
    inFlight++
    response.once('close', () => {
      inFlight--
      clearTimeout(timer)
      leave?.()
    })
    application(request, response)
  }
  const answerLater = async (request: IncomingMessage, response: ServerResponse, priority: RequestPriority) => {
    try {
      answer(request, response, await enterLater(queue, { priority, slots: slots.count }, response))
    } catch {
      // The queue rejected the request, or the caller has disconnected and does not receive the response.
      reject(request, response, minRetryMs)
    }
  }

  return (request, response) => {
    const path = getRequestPath(request.url ?? '')
    if (healthPaths.has(path)) return answer(request, response)
    if (inFlight + queue.waiting >= maxInFlight) return reject(request, response, minRetryMs)
    if (!path.startsWith('/api/')) return answer(request, response)
    const priority = backgroundPath.test(path) ? 'sweep' : 'person'
    const leave = queue.tryEnter(priority, slots.count)
    if (leave) return answer(request, response, leave)
    slots.isWanted = true
    const refusedForMs = queue.refusedForMs(priority, slots.count, requestTimeoutMs)
    if (refusedForMs === undefined) void answerLater(request, response, priority)
    else reject(request, response, refusedForMs)
  }
}

/** Waits for a slot; throws if the caller disconnects. */
const enterLater = async (
  queue: AdmissionQueue,
  { priority, slots }: { priority: RequestPriority; slots: number },
  response: ServerResponse,
): Promise<() => void> => {
  const left = new AbortController()
  const onClose = (): void => left.abort(createClientClosedError())
  response.once('close', onClose)
  const leave = await queue.enter(priority, slots, left.signal)
  response.off('close', onClose)
  return leave
}

/** Returns a function that rejects a request with 503 and Retry-After before it reaches the application. */
const createReject = ({ env, telemetry }: CapacityDeps, headers: HeaderLines) => {
  const allowOrigin = createCorsMiddleware(env)
  const refused = metrics.httpRefused(telemetry.metrics)
  const lines = [...headers, ['Content-Type', 'application/json; charset=utf-8'] as const].flat()
  return (request: IncomingMessage, response: ServerResponse, waitMs: number): void => {
    refused.inc()
    const id = resolveRequestId(request.headers['x-request-id'])
    const error = { type: 'busy', message: `${overloadMessage}; try again shortly` }
    const body = JSON.stringify({ success: false, error, metadata: { requestId: id } } satisfies ErrorResponse)
    const send = (): void => {
      const own = ['X-Request-Id', id, 'Retry-After', String(Math.ceil(waitMs / 1_000))]
      response.writeHead(errorStatuses.busy, [...lines, ...own, 'Content-Length', String(Buffer.byteLength(body))])
      response.end(body)
    }
    if (request.headers.origin === undefined) send()
    else allowOrigin(request, response, send)
  }
}
