import type { Logger } from 'pino'
import { InboundEvent, inboundSubjects } from '#proto/inbound-event.ts'
import type { Queue, Outcome } from '#shared/bus/durable/queue.ts'
import { unlessPoison } from '#shared/bus/durable/unless-poison.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { NetFailure } from '#shared/net/failure.ts'
import type { Send } from '#shared/net/net.ts'
import { installationId } from '#shared/store/installation.ts'
import { type Clock, ageMs } from '#shared/time/clock.ts'
import { settings } from './config.ts'
import type { Events } from './events.ts'

/** A consumer that waits for its server tries on; the age of the stream ends that. */
const tries = 100_000
const reemitsAtOnce = 16

/** Keeps what comes through the queue and hands it on, each at its own pace, until disposed. */
export const consumeEvents = async (queue: Queue, events: Events, reemitting: Reemitting): Promise<AsyncDisposable> => {
  await using opened = new AsyncDisposableStack()
  const wanted = { stream: 'EVENTS', subjects: inboundSubjects, body: InboundEvent, tries } as const
  opened.use(
    await queue.consume(
      { ...wanted, name: 'events-kept', mayRepeat: true },
      unlessPoison(async ({ body }) => {
        await events.put(body)
        return 'done'
      }),
    ),
  )
  // Where nobody is to be told, to be handed each event for nothing would cost a third of what taking it costs.
  if (mayReemit(reemitting)) {
    opened.use(
      await queue.consume(
        { ...wanted, name: 'events-reemitted', maxInFlight: reemitsAtOnce },
        unlessPoison(reemit(reemitting)),
      ),
    )
  }
  return opened.move()
}

/** What handing on needs, and its bounds; tests shorten the waits. */
export interface Reemitting {
  env: Environment
  /** Guarded against addresses inside the network. */
  send: Send
  clock: Clock
  log: Logger
  /** The name of this installation. */
  origin(): Promise<string>
  observe(outcome: 'sent' | 'skipped' | 'failed'): void
  waitsMs?: readonly number[]
}

/** After so many installations it is a loop, or as good as one. */
const mostHops = 3
/** Waits between tries: it is best effort. */
const usualWaitsMs = [2_000, 10_000] as const
/** What a target that is away has not taken by then, it does not get: others must not wait for it. */
const lifeMs = 10 * 60_000
const sendWithinMs = 10_000

const address = 'SVC_EVENTS_REEMIT_WEBHOOK_URL'

/** Whether there may be an address as long as this process runs: one in a file may come and go. */
export const mayReemit = ({ env }: Pick<Reemitting, 'env'>): boolean =>
  [address, `${address}_FILE`].some((name) => env[name] !== undefined)

/** Hands one event on, when an address is set and the event did not begin with us. */
export const reemit =
  (reemitting: Reemitting) =>
  async ({ body: event, deliveries }: { body: InboundEvent; deliveries: number }): Promise<Outcome> => {
    const { env, clock, log, observe, waitsMs = usualWaitsMs } = reemitting
    const { [address]: url } = read(settings, env)
    if (url === undefined) return 'done'
    if (event.own || event.hops >= mostHops) {
      observe('skipped')
      log.warn({ id: event.id, hops: event.hops, own: event.own }, 'event not handed on: it goes round')
      return 'done'
    }
    const isOld = ageMs(clock, event.receivedAt) > lifeMs
    const failure = isOld ? late : await failureOf(reemitting, url, event)
    if (failure === undefined) {
      observe('sent')
      return 'done'
    }
    const againInMs = failure.mayPass ? waitsMs[deliveries - 1] : undefined
    if (againInMs !== undefined) return { againInMs }
    observe('failed')
    // Those that came before there was an address are many.
    log[isOld && deliveries === 1 ? 'debug' : 'warn']({ id: event.id, reason: failure.reason }, 'event not handed on')
    return 'done'
  }

const installations = new RegExp(installationId, 'g')

interface Failure {
  /** In words, without the address. */
  reason: string
  mayPass: boolean
}

const late: Failure = { reason: 'nobody took it in time', mayPass: false }

/** Why it was not taken; undefined when it was. */
const failureOf = async (
  { send, origin }: Reemitting,
  url: string,
  event: InboundEvent,
): Promise<Failure | undefined> => {
  try {
    const { raw, own: _own, ...said } = event
    const answer = await send(url, {
      method: 'POST',
      timeoutMs: sendWithinMs,
      headers: {
        'content-type': 'application/json',
        'x-event-id': event.id,
        'x-reemit-hops': String(event.hops + 1),
      },
      // Those whom it came through, so that any of them knows it when it comes back.
      body: JSON.stringify({ ...said, origin: await origin(), via: [...new Set(raw.match(installations))] }),
    })
    await answer.body?.cancel()
    if (answer.ok) return undefined
    return { reason: `answered ${answer.status}`, mayPass: answer.status >= 500 || answer.status === 429 }
  } catch (error) {
    if (error instanceof NetFailure)
      return { reason: error.message, mayPass: error.reason === 'unreachable' || error.reason === 'timeout' }
    throw error
  }
}
