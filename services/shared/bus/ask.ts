import type { Call, ServiceName } from '#proto/call.ts'
import type { Method } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Clock } from '../time/clock.ts'
import { type Channel, Exchange, type FirstFrame, timedOut, tooManyStreams } from './exchange.ts'
import { questionHeaders } from './question.ts'
import { type Route, gone } from './route.ts'

/** What asking needs besides the question. */
export interface Asking {
  channel: Channel
  clock: Clock
}

/** One question, ready to be sent. */
export interface Request {
  service: ServiceName
  /** Where the question is heard by one instance, or by any. */
  subjectTo(instance?: string): string
  method: Method
  route: Route
  body: Uint8Array
  call: Call
  /** The instance to turn to when the one that was asked is busy. */
  leastLoaded(): string | undefined
}

/** A question that has begun to be answered. */
export interface Begun {
  exchange: Exchange
  first: FirstFrame
}

/** Tries allowed: a `safe` question may be asked once more when nothing came back. */
const triesOf = (method: Method): number => (method.safe ? 2 : 1)

/**
 * Asks until an answer begins. A preferred instance that is not there is passed over for any other; that is no try, as
 * nothing was done.
 */
export const ask = (asking: Asking, request: Request): Promise<Begun> =>
  request.method.elsewhere ? askElsewhere(asking, request) : askRoute(asking, request)

/** A process that was too busy has done nothing, so another one may. */
const askElsewhere = async (asking: Asking, request: Request): Promise<Begun> => {
  try {
    return await askRoute(asking, request)
  } catch (error) {
    const elsewhere = isBusy(error) ? request.leastLoaded() : undefined
    if (elsewhere === undefined) throw error
    return askRoute(asking, { ...request, route: { instance: elsewhere, only: false } })
  }
}

const isBusy = (error: unknown): boolean => error instanceof ServiceError && error.code === 'busy'

const askRoute = async (asking: Asking, request: Request): Promise<Begun> => {
  const { route, method } = request
  let instance = route.instance
  let triesLeft = triesOf(method)
  for (;;) {
    const exchange = open(asking, request, instance)
    try {
      return { exchange, first: await exchange.first }
    } catch (error) {
      if (exchange.unheard && route.only) throw gone()
      const passedOver = exchange.unheard && instance !== undefined
      if (!passedOver) triesLeft -= 1
      if (triesLeft === 0 || !(passedOver || mayRepeat(exchange, error))) throw error
      if (!route.only) instance = instance === route.otherwise ? undefined : route.otherwise
    }
  }
}

const mayRepeat = (exchange: Exchange, error: unknown): boolean =>
  !exchange.answered && error instanceof ServiceError && error.code === 'unavailable'

const open = ({ channel, clock }: Asking, request: Request, instance: string | undefined): Exchange => {
  const { call, service, subjectTo, method, body } = request
  call.signal.throwIfAborted()
  const timeLeftMs = call.deadline - clock.elapsedMs()
  if (timeLeftMs <= 0) throw timedOut()
  const { reading, limits } = channel
  if (method.kind === 'stream' && reading.streams >= limits.streamsPerConnection) throw tooManyStreams(limits)
  return new Exchange(channel, {
    service,
    subject: subjectTo(instance),
    headers: questionHeaders(call, timeLeftMs),
    body,
    timeLeftMs,
    signal: call.signal,
  })
}
