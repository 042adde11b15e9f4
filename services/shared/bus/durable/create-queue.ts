import { systemClock } from '../../time/clock.ts'
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { openOutageLog } from '../../telemetry/outage.ts'
import { decodeJson, encodeJson } from '../body.ts'
import type { ResolvedConsumer, QueueDriver, ClaimedMessage } from './driver.ts'
import type { QueueLimits } from './limits.ts'
import { observeConsumer } from './consumer-observer.ts'
import type { Consumer, DeadLetter, DeadLetters, MessageHandler, MessageOutcome, Queue } from './queue.ts'
import { type AnyStreamName, deadLetterStreams, formatDeadLetterSubject, findStreamName } from './streams.ts'

/** The dependencies of a queue. */
export interface QueueDeps {
  driver: QueueDriver
  limits: QueueLimits
  log: Logger | undefined
  metrics: Registry | undefined
}

/**
 * Creates a queue on a driver. Encodes bodies as JSON, runs handlers, acknowledges messages and stores dead letters.
 */
export const createQueue = (parts: QueueDeps): Queue => {
  const { driver, limits } = parts
  const running = new Set<AsyncDisposable>()
  return {
    get connected() {
      return driver.connected
    },
    get problem() {
      return driver.problem
    },
    async publish(subject, { id, body }) {
      const encoded = encodeJson(body)
      if (encoded.byteLength > limits.bodyBytes)
        throw new ServiceError(
          'too-large',
          `message too large: ${encoded.byteLength} bytes; the maximum is ${limits.bodyBytes}`,
        )
      return driver.store(findStreamName(subject), { subject, id, body: encoded })
    },
    async consume({ body, ...consumer }, handle) {
      const attached = { tries: limits.tries, maxInFlight: limits.maxInFlight, mayRepeat: false, ...consumer }
      await driver.attach(attached)
      await using opened = new AsyncDisposableStack()
      const observed = opened.use(observeConsumer(parts, attached))
      const handleOne = createHandler(parts, { ...attached, body }, handle)
      opened.use(startConsuming(parts, attached, (taken) => handleOne(observed.handed(taken))))
      const consuming = opened.move()
      running.add(consuming)
      return consuming
    },
    dead: { EVENTS: createDeadLetters(driver, deadLetterStreams.EVENTS) },
    async [Symbol.asyncDispose]() {
      await Promise.all([...running].map((consuming) => consuming[Symbol.asyncDispose]()))
      await driver[Symbol.asyncDispose]()
    },
  }
}

/** Consumes messages up to the limit in flight. Disposing stops taking messages and waits for those in flight. */
const startConsuming = (
  { driver, limits, log }: QueueDeps,
  consumer: ResolvedConsumer,
  handleOne: (taken: ClaimedMessage) => Promise<void>,
): AsyncDisposable => {
  const stop = new AbortController()
  const inHand = new Map<ClaimedMessage, Promise<void>>()
  const working = reportProgress(inHand, limits.ackWaitMs / 3)
  const takeSome = async () => {
    for await (const taken of driver.take(consumer, consumer.maxInFlight - inHand.size, stop.signal)) {
      const handling = handleOne(taken).finally(() => inHand.delete(taken))
      inHand.set(taken, handling)
    }
  }
  const facts = { consumer: consumer.name }
  const outage = openOutageLog(log, {
    begins: 'receiving messages failed',
    ends: 'receiving messages recovered',
    facts,
  })
  const failed = async (cause: unknown) => {
    // A lost connection is logged once, not by each of its consumers.
    if (driver.connected) outage.failed(cause)
    await wait(limits.retryMs, undefined, { signal: stop.signal }).catch(() => {})
    // A restarted server may have lost the consumer.
    if (driver.connected) await driver.attach(consumer).catch(() => {})
  }
  const run = async () => {
    while (!stop.signal.aborted) {
      if (inHand.size >= consumer.maxInFlight) await Promise.race(inHand.values())
      try {
        await takeSome()
        outage.worked()
      } catch (error) {
        if (!stop.signal.aborted) await failed(error)
      }
    }
    await Promise.all(inHand.values())
  }
  const ran = run()
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await ran
      clearInterval(working)
    },
  }
}

/** Reports all messages in flight as in progress. One timer per message would cost more than most handlers. */
const reportProgress = (inHand: ReadonlyMap<ClaimedMessage, unknown>, everyMs: number): NodeJS.Timeout =>
  setInterval(() => {
    for (const taken of inHand.keys()) taken.working()
  }, everyMs)

/**
 * Returns a function that handles and acknowledges a message; it never throws. An outage is logged once, not per
 * message.
 */
const createHandler = <S extends z.ZodType>(
  parts: QueueDeps,
  consumer: ResolvedConsumer & Consumer<S>,
  handle: MessageHandler<z.output<S>>,
): ((taken: ClaimedMessage) => Promise<void>) => {
  const { limits, log } = parts
  const facts = { consumer: consumer.name }
  const outage = openOutageLog(log, { begins: 'handling messages failed', ends: 'handling messages recovered', facts })
  return async (taken) => {
    try {
      const outcome = await runHandler(consumer, handle, taken)
      if (outcome === 'done') await taken.done()
      else if ('dead' in outcome) await storeDeadLetter(parts, taken, outcome.dead)
      else taken.again(outcome.againInMs)
      if (outcome === 'done') outage.worked()
    } catch (error) {
      if (isUnavailable(error)) outage.failed(error)
      else log?.error({ err: error, ...facts, deliveries: taken.deliveries }, 'message handler failed')
      taken.again(limits.failedAgainMs)
    }
  }
}

const isUnavailable = (error: unknown): boolean => error instanceof ServiceError && error.code === 'unavailable'

const runHandler = async <S extends z.ZodType>(
  { tries = 1, body }: ResolvedConsumer & Consumer<S>,
  handle: MessageHandler<z.output<S>>,
  taken: ClaimedMessage,
): Promise<MessageOutcome> => {
  const { subject, deliveries } = taken
  if (deliveries > tries) return { dead: `delivered ${tries} times without an acknowledgement` }
  const parsed = body.safeParse(decodeIfValid(taken.body))
  if (!parsed.success) return { dead: 'its body does not match the schema' }
  return handle({
    subject,
    // Read on demand, because few handlers need the id, and reading it parses headers.
    get id() {
      return taken.id
    },
    body: parsed.data,
    deliveries,
  })
}

const decodeIfValid = (body: Uint8Array): unknown => {
  try {
    return decodeJson(body)
  } catch {
    return undefined
  }
}

const StoredDeadLetter = z.object({
  subject: z.string(),
  messageId: z.string(),
  body: z.unknown(),
  reason: z.string(),
  deliveries: z.number(),
  atMs: z.number(),
})

/**
 * Stores a dead letter and then acknowledges the message. After a crash in between, the message is dead-lettered again,
 * and the stream drops the second letter as a duplicate.
 */
const storeDeadLetter = async ({ driver, log }: QueueDeps, taken: ClaimedMessage, reason: string): Promise<void> => {
  const { subject, id: messageId, body, deliveries } = taken
  const letter: z.input<typeof StoredDeadLetter> = {
    subject,
    messageId,
    body: decodeIfValid(body),
    reason,
    deliveries,
    atMs: systemClock.now(),
  }
  const deadAs = formatDeadLetterSubject(subject)
  await driver.store(findStreamName(deadAs), { subject: deadAs, id: messageId, body: encodeJson(letter) })
  await taken.done()
  log?.warn({ id: messageId, subject, reason, deliveries }, 'message dead-lettered')
}

/** Maximum sequence numbers to read for one page of dead letters, because removed ones leave gaps. */
const maxSequencesPerPage = 1_000

const createDeadLetters = (driver: QueueDriver, stream: AnyStreamName): DeadLetters => ({
  async list({ limit, before }) {
    const letters: DeadLetter[] = []
    let sequence = before === undefined ? await driver.lastDead(stream) : parseSequence(before) - 1
    for (
      let looks = 0;
      looks < maxSequencesPerPage && sequence > 0 && letters.length < limit;
      looks += 1, sequence -= 1
    ) {
      const letter = parseDeadLetter(sequence, await driver.dead(stream, sequence))
      if (letter) letters.push(letter)
    }
    return { letters, next: sequence > 0 ? String(sequence + 1) : null }
  },
  get: async (id) => parseDeadLetter(parseSequence(id), await driver.dead(stream, parseSequence(id))),
  remove: (id) => driver.removeDead(stream, parseSequence(id)),
})

const parseSequence = (id: string): number => {
  if (/^[1-9]\d{0,14}$/.test(id)) return Number(id)
  throw new ServiceError('invalid', 'id: must be the id of a dead letter')
}

const parseDeadLetter = (sequence: number, body: Uint8Array | undefined): DeadLetter | undefined =>
  body && { id: String(sequence), ...StoredDeadLetter.parse(decodeJson(body)) }
