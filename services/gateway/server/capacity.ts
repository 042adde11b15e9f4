import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Priority } from '#proto/call.ts'
import { errorStatuses } from '#proto/errors.ts'
import { openLoopSlots } from '#shared/admission/loop-slots.ts'
import type { LoopPressure } from '#shared/admission/loop-pressure.ts'
import { type AdmissionQueue, openAdmissionQueue } from '#shared/admission/queue.ts'
import type { Environment } from '#shared/config/environment.ts'
import { metrics } from '#shared/telemetry/metrics.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import type { Failure } from '#proto/http/answer.ts'
import { callerLeft } from '../response/http-exchange.ts'
import { crossOrigin } from './cross-origin.ts'
import { pathOf, requestId } from './receive.ts'
import type { HeaderLines } from './security-headers.ts'

/** Requests being answered at most, since each holds memory until its answer has ended. */
const maxInFlight = 1_024
const refusal = 'this process has more requests than it can answer'
const maxWaiting = 1_024
/** Nobody waits longer in front of a page. */
const maxWaitMs = 5_000
/** A request that lasts longer waits for a host or a model, or is a stream of events; it does not keep the processor from others. */
const maxHoldMs = 5_000
const minRetryMs = 1_000

/** Paths that are answered before any other work, however much there is of it: orchestrators judge by them. */
const healthPaths: ReadonlySet<string> = new Set(['/api/health', '/api/healthz'])
/** What nobody waits for in person. */
const background = /^\/api\/(cron\/|v1\/metrics$)/

interface Door {
  env: Environment
  telemetry: Telemetry
  requestTimeoutMs: number
}

/**
 * Lets requests to the API in as fast as the event loop gets them done. While the loop is overloaded, requests wait for a slot, and
 * those that would wait too long are refused with 503 and the time to wait. This stands before the application, since most requests
 * are refused then and a refusal has to cost little. `headers` are those of every answer of the API.
 */
export const withinCapacity = (
  application: RequestListener,
  door: Door,
  pressure: LoopPressure,
  headers: HeaderLines,
  holdMs = maxHoldMs,
): RequestListener => {
  const { telemetry, requestTimeoutMs } = door
  const queue = openAdmissionQueue({ refusal, maxWaiting, maxWaitMs })
  const slots = openLoopSlots(queue, pressure)
  const refuse = openRefuse(door, headers)
  let inFlight = 0
  metrics.httpInFlight(telemetry.metrics, () => [{ labels: {}, value: inFlight }])
  metrics.httpWaiting(telemetry.metrics, () => [{ labels: {}, value: queue.waiting }])

  /** Gives the slot back when the answer has ended, at the latest after `holdMs`. */
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
  const answerLater = async (request: IncomingMessage, response: ServerResponse, priority: Priority) => {
    try {
      answer(request, response, await enterLater(queue, { priority, slots: slots.count }, response))
    } catch {
      // Nobody reads the refusal where the caller has left.
      refuse(request, response, minRetryMs)
    }
  }

  return (request, response) => {
    const path = pathOf(request.url ?? '')
    if (healthPaths.has(path)) return answer(request, response)
    if (inFlight + queue.waiting >= maxInFlight) return refuse(request, response, minRetryMs)
    if (!path.startsWith('/api/')) return answer(request, response)
    const priority = background.test(path) ? 'sweep' : 'person'
    const leave = queue.tryEnter(priority, slots.count)
    if (leave) return answer(request, response, leave)
    slots.isWanted = true
    const refusedForMs = queue.refusedForMs(priority, slots.count, requestTimeoutMs)
    if (refusedForMs === undefined) void answerLater(request, response, priority)
    else refuse(request, response, refusedForMs)
  }
}

/** Waits for a slot; a caller who leaves waits no more. */
const enterLater = async (
  queue: AdmissionQueue,
  { priority, slots }: { priority: Priority; slots: number },
  response: ServerResponse,
): Promise<() => void> => {
  const left = new AbortController()
  const onClose = (): void => left.abort(callerLeft())
  response.once('close', onClose)
  const leave = await queue.enter(priority, slots, left.signal)
  response.off('close', onClose)
  return leave
}

/** What every refusal says, past the ways of other failures. */
const openRefuse = ({ env, telemetry }: Door, headers: HeaderLines) => {
  const allowOrigin = crossOrigin(env)
  const refused = metrics.httpRefused(telemetry.metrics)
  const lines = [...headers, ['Content-Type', 'application/json; charset=utf-8'] as const].flat()
  return (request: IncomingMessage, response: ServerResponse, waitMs: number): void => {
    refused.inc()
    const id = requestId(request.headers['x-request-id'])
    const error = { type: 'busy', message: `${refusal}; try again shortly` }
    const body = JSON.stringify({ success: false, error, metadata: { requestId: id } } satisfies Failure)
    const send = (): void => {
      const own = ['X-Request-Id', id, 'Retry-After', String(Math.ceil(waitMs / 1_000))]
      response.writeHead(errorStatuses.busy, [...lines, ...own, 'Content-Length', String(Buffer.byteLength(body))])
      response.end(body)
    }
    if (request.headers.origin === undefined) send()
    else allowOrigin(request, response, send)
  }
}
