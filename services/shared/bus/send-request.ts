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
import type { InstanceRegistry } from './instances.ts'
import type { Placement } from './placement.ts'
import { createRequestHeaders } from './request-headers.ts'
import { type RequestRoute, createGoneError, routeAfter, routeTo } from './route.ts'

/** The dependencies of `sendRequest`. */
export interface RequestDeps {
  channel: BusChannel
  clock: Clock
  instances: InstanceRegistry
  placement: Placement
}

/** One request, ready to be sent. */
export interface BusRequest {
  service: ServiceName
  /** Returns the subject for these last tokens; without them, any instance receives the request. */
  subjectTo(tokens?: string): string
  /** Returns the subject of requests for a state to one instance. */
  stateSubjectTo(tokens: string): string
  method: Method
  /** Chooses the route of an attempt among the instances that are alive now. */
  chooseRoute(): RequestRoute
  body: Uint8Array
  call: CallContext
  /** Returns the instance to try if the first one is busy. */
  leastLoaded(): string | undefined
}

/** A response whose first frame has arrived. */
export interface StartedResponse {
  exchange: RequestExchange
  first: FirstFrame
}

/**
 * Returns the maximum number of attempts: two for a `safe` request that gets no response, otherwise one. An attempt that
 * was interrupted by a disconnection does not count.
 */
const chooseMaxTries = (method: Method): number => (method.safe ? 2 : 1)

/** Pause before a request that no process received is sent again. */
const unheardPauseMs = 100

/**
 * Sends a request and resolves with the first frame of its response. If the chosen instance is not running, another one
 * gets the request. If none is running, the request waits a few seconds, as during a restart. Neither counts as an
 * attempt, because nothing was executed.
 */
export const sendRequest = (deps: RequestDeps, request: BusRequest): Promise<StartedResponse> =>
  request.method.elsewhere ? sendWithFallback(deps, request) : sendByRoute(deps, request, request.chooseRoute())

/**
 * Sends a request. A busy instance has executed nothing, so the request is then sent once more, to the least loaded
 * instance.
 */
const sendWithFallback = async (deps: RequestDeps, request: BusRequest): Promise<StartedResponse> => {
  try {
    return await sendByRoute(deps, request, request.chooseRoute())
  } catch (error) {
    const elsewhere = isBusy(error) ? request.leastLoaded() : undefined
    if (elsewhere === undefined) throw error
    return sendByRoute(deps, request, routeTo(elsewhere))
  }
}

const isBusy = (error: unknown): boolean => error instanceof ServiceError && error.code === 'busy'

const sendByRoute = async (deps: RequestDeps, request: BusRequest, first: RequestRoute): Promise<StartedResponse> => {
  let route = first
  let triesLeft = chooseMaxTries(request.method)
  let unheardSinceMs: number | undefined
  for (;;) {
    const { restorations } = deps.channel.link
    const exchange = openExchange(deps, request, route)
    try {
      return { exchange, first: await exchange.first }
    } catch (error) {
      if (exchange.unheard) unheardSinceMs ??= deps.clock.elapsedMs()
      else {
        unheardSinceMs = undefined
        if (deps.channel.link.restorations === restorations) triesLeft -= 1
        if (triesLeft === 0 || !canRepeat(exchange, error, request.method)) throw error
      }
      if (unheardSinceMs !== undefined && isLastRoute(route)) {
        if (!mayAppear(deps, request, route, unheardSinceMs)) throw route.only ? createGoneError() : error
        await pause(request.call.signal)
      }
      route = chooseNextRoute(deps, request, route, exchange.unheard)
    }
  }
}

const isLastRoute = (route: RequestRoute): boolean =>
  route.only || (route.instance === undefined && routeAfter(route) === undefined)

const chooseNextRoute = (
  { instances }: RequestDeps,
  { service, chooseRoute }: BusRequest,
  route: RequestRoute,
  isUnheard: boolean,
): RequestRoute => {
  if (route.only) return route
  // The instance is stopping, dead or not responding.
  if (route.instance !== undefined) instances.forget(service, route.instance)
  return (isUnheard ? routeAfter(route) : undefined) ?? chooseRoute()
}

/** Returns whether an instance that can receive the request may be reconnecting or starting. */
const mayAppear = (
  { channel: { limits }, clock, instances }: RequestDeps,
  { service }: BusRequest,
  { only, instance }: RequestRoute,
  sinceMs: number,
): boolean => {
  const waitedMs = clock.elapsedMs() - sinceMs
  if (only) return waitedMs < limits.missingMs && instance !== undefined && instances.isAlive(service, instance)
  return waitedMs < limits.unheardMs && instances.expects(service)
}

/** Waits before a request is sent again; an aborted call ends with its own reason when the next exchange is opened. */
const pause = (signal: AbortSignal): Promise<void> =>
  wait(unheardPauseMs * (0.5 + Math.random()), undefined, { signal }).catch(() => {})

const canRepeat = (exchange: RequestExchange, error: unknown, { safe }: Method): boolean =>
  safe === true && !exchange.answered && error instanceof ServiceError && error.code === 'unavailable'

const openExchange = (
  { channel, clock, placement }: RequestDeps,
  request: BusRequest,
  route: RequestRoute,
): RequestExchange => {
  const { call, service, subjectTo, stateSubjectTo, method, body } = request
  call.signal.throwIfAborted()
  const timeLeftMs = call.deadline - clock.elapsedMs()
  if (timeLeftMs <= 0) throw createTimeoutError()
  const { reading, limits } = channel
  if (method.kind === 'stream' && reading.streams >= limits.streamsPerConnection) throw createStreamLimitError(limits)
  return new RequestExchange(channel, {
    service,
    subject: subjectTo(route.tokens),
    headers: createRequestHeaders(call, timeLeftMs),
    body,
    timeLeftMs,
    signal: call.signal,
    isSafe: method.safe === true,
    instance: route.instance === undefined ? undefined : route.tokens,
    stateSubjectTo,
    onEnd: route.choice && placement.enter(route.choice),
  })
}
