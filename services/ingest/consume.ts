import type { Logger } from 'pino'
import { InboundEvent, inboundSubjectPattern } from '#proto/inbound-event.ts'
import type { Queue, MessageOutcome } from '#shared/bus/durable/queue.ts'
import { deadLetterPoisonMessages } from '#shared/bus/durable/dead-letter-poison.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { NetFailure } from '#shared/net/failure.ts'
import type { RequestSender } from '#shared/net/net.ts'
import { installationIdPattern } from '#shared/store/installation.ts'
import { type Clock, computeAgeMs } from '#shared/time/clock.ts'
import { settings } from './config.ts'
import type { EventStore } from './events.ts'

/** Maximum deliveries of an event; high enough that consumers retry until the stream drops it. */
const maxTries = 100_000
const maxReemitsInFlight = 16

/** Stores and forwards events from the queue until disposed, with a separate consumer for each of the two tasks. */
export const consumeEvents = async (queue: Queue, events: EventStore, deps: ReemitDeps): Promise<AsyncDisposable> => {
  await using opened = new AsyncDisposableStack()
  const consumer = { stream: 'EVENTS', subjects: inboundSubjectPattern, body: InboundEvent, tries: maxTries } as const
  opened.use(
    await queue.consume(
      { ...consumer, name: 'events-kept', mayRepeat: true },
      deadLetterPoisonMessages(async ({ body }) => {
        await events.put(body)
        return 'done'
      }),
    ),
  )
  // Without a target, the consumer would only add a third to the cost of each event.
  if (canReemit(deps)) {
    opened.use(
      await queue.consume(
        { ...consumer, name: 'events-reemitted', maxInFlight: maxReemitsInFlight },
        deadLetterPoisonMessages(createReemitHandler(deps)),
      ),
    )
  }
  return opened.move()
}

/** Dependencies of forwarding; tests shorten the waits. */
export interface ReemitDeps {
  env: Environment
  /** Sends a request; rejects addresses of internal networks. */
  send: RequestSender
  clock: Clock
  log: Logger
  /** Returns the id of this installation. */
  origin(): Promise<string>
  observe(outcome: 'sent' | 'skipped' | 'failed'): void
  waitsMs?: readonly number[]
}

/** Maximum number of installations that an event may pass; more indicate a forwarding loop. */
const maxHops = 3
/** Waits between attempts in milliseconds; forwarding is best effort. */
const defaultWaitsMs = [2_000, 10_000] as const
/** Maximum age of a forwarded event, so that an unavailable target does not delay later events. */
const maxForwardAgeMs = 10 * 60_000
const sendTimeoutMs = 10_000

const urlVariable = 'SVC_EVENTS_REEMIT_WEBHOOK_URL'

/**
 * Returns whether a target is configured. A secret file counts even if it is empty, because its content can change.
 */
export const canReemit = ({ env }: Pick<ReemitDeps, 'env'>): boolean =>
  [urlVariable, `${urlVariable}_FILE`].some((name) => env[name] !== undefined)

/** Returns the handler that forwards events to the configured target, except those from this installation. */
export const createReemitHandler =
  (deps: ReemitDeps) =>
  async ({ body: event, deliveries }: { body: InboundEvent; deliveries: number }): Promise<MessageOutcome> => {
    const { env, clock, log, observe, waitsMs = defaultWaitsMs } = deps
    const { [urlVariable]: url } = parseSettings(settings, env)
    if (url === undefined) return 'done'
    if (event.own || event.hops >= maxHops) {
      observe('skipped')
      log.warn({ id: event.id, hops: event.hops, own: event.own }, 'event not forwarded: forwarding loop')
      return 'done'
    }
    const isOld = computeAgeMs(clock, event.receivedAt) > maxForwardAgeMs
    const failure = isOld ? expiredFailure : await forwardEvent(deps, url, event)
    if (failure === undefined) {
      observe('sent')
      return 'done'
    }
    const againInMs = failure.isTemporary ? waitsMs[deliveries - 1] : undefined
    if (againInMs !== undefined) return { againInMs }
    observe('failed')
    // When a target is first configured, many events may have expired. Such events are logged at debug level.
    log[isOld && deliveries === 1 ? 'debug' : 'warn']({ id: event.id, reason: failure.reason }, 'event not forwarded')
    return 'done'
  }

const installationPattern = new RegExp(installationIdPattern, 'g')

interface Failure {
  /** A description without the target URL, which is a secret. */
  reason: string
  isTemporary: boolean
}

const expiredFailure: Failure = { reason: 'expired: received more than ten minutes ago', isTemporary: false }

/** Returns why forwarding failed; undefined if it succeeded. */
const forwardEvent = async (
  { send, origin }: ReemitDeps,
  url: string,
  event: InboundEvent,
): Promise<Failure | undefined> => {
  try {
    const { raw, own: _own, ...forwarded } = event
    const response = await send(url, {
      method: 'POST',
      timeoutMs: sendTimeoutMs,
      headers: {
        'content-type': 'application/json',
        'x-event-id': event.id,
        'x-reemit-hops': String(event.hops + 1),
      },
      // `via` lists the installations that the event has passed, so that each of them recognizes its own events.
      body: JSON.stringify({ ...forwarded, origin: await origin(), via: [...new Set(raw.match(installationPattern))] }),
    })
    await response.body?.cancel()
    if (response.ok) return undefined
    return { reason: `HTTP ${response.status}`, isTemporary: response.status >= 500 || response.status === 429 }
  } catch (error) {
    if (error instanceof NetFailure)
      return { reason: error.message, isTemporary: error.reason === 'unreachable' || error.reason === 'timeout' }
    throw error
  }
}
