import { setTimeout as wait } from 'node:timers/promises'
import type { CallContext, ServiceName } from '#proto/call.ts'
import type { Method } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Clock } from '../time/clock.ts'
import {
  type BusChannel,
  RequestExchange,
  type FirstFrame,
  createTimeoutError,
  createStreamLimitError,
} from './exchange.ts'
import { createRequestHeaders } from './request-headers.ts'
import { type RequestRoute, createGoneError } from './route.ts'

/** The dependencies of `sendRequest`. */
export interface RequestDeps {
  channel: BusChannel
  clock: Clock
}

/** One request, ready to be sent. */
export interface BusRequest {
  service: ServiceName
  /** Returns the subject on which one instance, or any instance, receives the request. */
  subjectTo(instance?: string): string
  method: Method
  route: RequestRoute
  body: Uint8Array
  call: CallContext
  /** Returns the instance to try if the first one is busy. */
  leastLoaded(): string | undefined
  /** Returns whether a process of the service was running recently. */
  isExpected(): boolean
}

/** A response whose first frame has arrived. */
export interface StartedResponse {
  exchange: RequestExchange
  first: FirstFrame
}

/** Returns the maximum number of attempts: two for a `safe` request that gets no response, otherwise one. */
const chooseMaxTries = (method: Method): number => (method.safe ? 2 : 1)

/** Pause before a request that no process received is sent again. */
const unheardPauseMs = 100

/**
 * Sends a request and resolves with the first frame of its response. If the preferred instance is not running, any
 * other one gets the request. If none is running, the request waits a few seconds, as during a restart. Neither counts
 * as an attempt, because nothing was executed.
 */
export const sendRequest = (deps: RequestDeps, request: BusRequest): Promise<StartedResponse> =>
  request.method.elsewhere ? sendWithFallback(deps, request) : sendByRoute(deps, request)

/**
 * Sends a request. A busy instance has executed nothing, so the request is then sent once more, to the least loaded
 * instance.
 */
const sendWithFallback = async (deps: RequestDeps, request: BusRequest): Promise<StartedResponse> => {
  try {
    return await sendByRoute(deps, request)
  } catch (error) {
    const elsewhere = isBusy(error) ? request.leastLoaded() : undefined
    if (elsewhere === undefined) throw error
    return sendByRoute(deps, { ...request, route: { instance: elsewhere, only: false } })
  }
}

const isBusy = (error: unknown): boolean => error instanceof ServiceError && error.code === 'busy'

const sendByRoute = async (deps: RequestDeps, request: BusRequest): Promise<StartedResponse> => {
  const { route, method } = request
  let instance = route.instance
  let triesLeft = chooseMaxTries(method)
  const waitsUntilMs = deps.clock.elapsedMs() + deps.channel.limits.unheardMs
  for (;;) {
    const exchange = openExchange(deps, request, instance)
    try {
      return { exchange, first: await exchange.first }
    } catch (error) {
      if (exchange.unheard && route.only) throw createGoneError()
      const passedOver = exchange.unheard && instance !== undefined
      if (exchange.unheard && !passedOver && request.isExpected() && deps.clock.elapsedMs() < waitsUntilMs) {
        // An aborted call ends with its own reason below.
        await wait(unheardPauseMs * (0.5 + Math.random()), undefined, { signal: request.call.signal }).catch(() => {})
        continue
      }
      if (!passedOver) triesLeft -= 1
      if (triesLeft === 0 || !(passedOver || canRepeat(exchange, error))) throw error
      if (!route.only) instance = instance === route.otherwise ? undefined : route.otherwise
    }
  }
}

const canRepeat = (exchange: RequestExchange, error: unknown): boolean =>
  !exchange.answered && error instanceof ServiceError && error.code === 'unavailable'

const openExchange = (
  { channel, clock }: RequestDeps,
  request: BusRequest,
  instance: string | undefined,
): RequestExchange => {
  const { call, service, subjectTo, method, body } = request
  call.signal.throwIfAborted()
  const timeLeftMs = call.deadline - clock.elapsedMs()
  if (timeLeftMs <= 0) throw createTimeoutError()
  const { reading, limits } = channel
  if (method.kind === 'stream' && reading.streams >= limits.streamsPerConnection) throw createStreamLimitError(limits)
  return new RequestExchange(channel, {
    service,
    subject: subjectTo(instance),
    headers: createRequestHeaders(call, timeLeftMs),
    body,
    timeLeftMs,
    signal: call.signal,
  })
}
