import { randomUUID } from 'node:crypto'
import { ServiceError } from '#proto/errors.ts'
import type { Change, MessageText, StoredValue, ValueChange } from './driver.ts'
import type { OutboxMessage, Step, TogetherStep } from './store.ts'

/** The size limits of a store; tests use small ones. */
export interface StoreLimits {
  /** Maximum messages in the outbox. */
  outboxMessages: number
  /** Maximum bytes of a value or a message. */
  valueBytes: number
}

/** The default limits. */
export const defaultLimits: StoreLimits = { outboxMessages: 100_000, valueBytes: 1_048_576 }

const maxMessages = 1_000
/** Pattern of valid names: every server supports them, and they are readable in a log line. */
const namePattern = /^[^\p{Cc}]{1,512}$/u

/** Returns the change of one key for a driver, with the value as JSON. `stored` is the expected current value. */
export const valueChangeOf = (
  key: string,
  stored: StoredValue | undefined,
  { value, expiresInMs }: Pick<Step<unknown>, 'value' | 'expiresInMs'>,
  limits: StoreLimits,
): ValueChange => ({
  key,
  expected: stored?.version,
  version: randomUUID(),
  text: value === undefined ? undefined : textOf(value, `the value under ${key}`, limits),
  expiresInMs: expiresInMs === undefined ? undefined : lengthOf(expiresInMs),
})

/** Returns a change of values and messages for a driver; throws `too-large` if the step exceeds a limit. */
export const changeOf = (
  values: readonly ValueChange[],
  { outbox = [], acks = [], needs = [] }: Pick<TogetherStep<never, never>, 'outbox' | 'acks' | 'needs'>,
  limits: StoreLimits,
): Change => {
  if (outbox.length > maxMessages)
    throw new ServiceError(
      'too-large',
      `too many outbox messages: ${outbox.length}; a step may append at most ${maxMessages}`,
    )
  const messages = outbox.map((message) => messageText(message, limits))
  return { values, messages, acks, needs, fence: undefined, claimMs: undefined, outboxLimit: limits.outboxMessages }
}

const messageText = ({ id, topic, payload }: OutboxMessage, limits: StoreLimits): MessageText => ({
  id: named(id),
  text: textOf({ topic, payload }, `message ${id}`, limits),
})

const textOf = (value: unknown, what: string, { valueBytes }: StoreLimits): string => {
  const text = JSON.stringify(value)
  if (Buffer.byteLength(text) > valueBytes)
    throw new ServiceError('too-large', `${what} would exceed ${valueBytes} bytes`)
  return text
}

/** Returns the name if it is valid, otherwise throws `invalid`. */
export const named = (name: string): string => {
  if (namePattern.test(name)) return name
  throw new ServiceError('invalid', 'a name in the store has 1 to 512 characters and no control characters')
}

/**
 * Rounds a length of time up to whole milliseconds, the resolution of servers; throws `invalid` unless it is positive.
 */
export const lengthOf = (lengthMs: number): number => {
  if (lengthMs > 0 && Number.isFinite(lengthMs)) return Math.ceil(lengthMs)
  throw new ServiceError('invalid', `a length of time must be positive, not ${lengthMs} ms`)
}
