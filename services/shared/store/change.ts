import { randomUUID } from 'node:crypto'
import { ServiceError } from '#proto/errors.ts'
import type { StoreChange, StoredOutboxMessage, StoredValue, ValueChange } from './driver.ts'
import type { OutboxMessage, UpdateStep, AtomicUpdateStep } from './store.ts'

/** The size limits of a store; tests use small ones. */
export interface StoreLimits {
  /** Maximum messages in the outbox. */
  outboxMessages: number
  /** Maximum bytes of a value or a message. */
  valueBytes: number
}

/** The size limits of a store in production. */
export const defaultStoreLimits: StoreLimits = { outboxMessages: 100_000, valueBytes: 1_048_576 }

const maxMessages = 1_000
/** Pattern of valid names. All backends support these names, and they are readable in logs. */
const namePattern = /^[^\p{Cc}]{1,512}$/u

/**
 * Creates the write of one value for a driver. It applies only while the key still has the value `stored`. Throws
 * `too-large` if the new value exceeds the limit.
 */
export const createValueChange = (
  key: string,
  stored: StoredValue | undefined,
  { value, expiresInMs }: Pick<UpdateStep<unknown>, 'value' | 'expiresInMs'>,
  limits: StoreLimits,
): ValueChange => ({
  key,
  expected: stored?.version,
  version: randomUUID(),
  text: value === undefined ? undefined : encodeValue(value, `the value of "${key}"`, limits),
  expiresInMs: expiresInMs === undefined ? undefined : toWholeMs(expiresInMs),
})

/** Creates an atomic write for a driver. Throws `too-large` if there are too many messages or one is too long. */
export const createStoreChange = (
  values: readonly ValueChange[],
  { outbox = [], acks = [], needs = [] }: Pick<AtomicUpdateStep<never, never>, 'outbox' | 'acks' | 'needs'>,
  limits: StoreLimits,
): StoreChange => {
  if (outbox.length > maxMessages)
    throw new ServiceError(
      'too-large',
      `too many outbox messages: ${outbox.length}; a step may append at most ${maxMessages}`,
    )
  const messages = outbox.map((message) => toMessageText(message, limits))
  return { values, messages, acks, needs, fence: undefined, claimMs: undefined, outboxLimit: limits.outboxMessages }
}

const toMessageText = ({ id, topic, payload }: OutboxMessage, limits: StoreLimits): StoredOutboxMessage => ({
  id: requireValidName(id),
  text: encodeValue({ topic, payload }, `the message "${id}"`, limits),
})

const encodeValue = (value: unknown, what: string, { valueBytes }: StoreLimits): string => {
  const text = JSON.stringify(value)
  const bytes = Buffer.byteLength(text)
  if (bytes > valueBytes)
    throw new ServiceError('too-large', `${what} is too large: ${bytes} bytes; the maximum is ${valueBytes}`)
  return text
}

/** Returns the name if it is valid, otherwise throws `invalid`. */
export const requireValidName = (name: string): string => {
  if (namePattern.test(name)) return name
  throw new ServiceError('invalid', 'invalid store key; use 1 to 512 characters without control characters')
}

/**
 * Rounds a duration up to whole milliseconds, the resolution of servers. Throws `invalid` unless it is positive and
 * finite.
 */
export const toWholeMs = (lengthMs: number): number => {
  if (lengthMs > 0 && Number.isFinite(lengthMs)) return Math.ceil(lengthMs)
  throw new ServiceError('invalid', `invalid duration "${lengthMs} ms"; it must be positive and finite`)
}
