import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import {
  createStoreChange,
  defaultStoreLimits,
  toWholeMs,
  requireValidName,
  type StoreLimits,
  createValueChange,
} from './change.ts'
import {
  type StoreChange,
  type ClaimedOutboxMessage,
  type StoreDriver,
  maxClaimMs,
  type StoredOutboxMessage,
  type StoredValue,
  type WriteResult,
} from './driver.ts'
import type {
  ClaimedMessage,
  Fence,
  Lease,
  Outbox,
  OwnMessageConsumer,
  UpdateStep,
  Store,
  AtomicUpdateKeys,
  AtomicUpdateStep,
} from './store.ts'
import { createWaker } from './waker.ts'

const Stored = z.object({ topic: z.string(), payload: z.unknown() })

/** Parses a stored message. */
export const parseStoredMessage = ({ text, ...claimed }: ClaimedOutboxMessage): ClaimedMessage => ({
  ...claimed,
  ...Stored.parse(JSON.parse(text)),
})

/** Maximum total characters of the cache of values. */
const maxTotalLength = 4_194_304
const maxTextLength = 65_536

/** The values that this process saw last. A value that no other process has changed can be written without a read. */
interface LastSeenValues {
  /** Returns the cached value; undefined if the key is not cached. `value` is undefined if the key had no value. */
  of(key: string): { value: StoredValue | undefined } | undefined
  /** Caches the current value of a key. */
  saw(key: string, value: StoredValue | undefined): void
}

/** Creates a bounded cache of the last seen values. */
const rememberLastSeen = (): LastSeenValues => {
  const seen = new Map<string, StoredValue | undefined>()
  let totalLength = 0
  const forget = (key: string) => {
    totalLength -= sizeOf(key, seen.get(key)) * Number(seen.has(key))
    seen.delete(key)
  }
  return {
    of: (key) => (seen.has(key) ? { value: seen.get(key) } : undefined),
    saw(key, value) {
      forget(key)
      if (sizeOf(key, value) > maxTextLength) return
      seen.set(key, value)
      totalLength += sizeOf(key, value)
      for (const oldest of seen.keys()) {
        if (totalLength <= maxTotalLength) return
        forget(oldest)
      }
    },
  }
}

const sizeOf = (key: string, value: StoredValue | undefined): number => key.length + (value?.text.length ?? 0)

/**
 * Maximum attempts of an update. Each conflict means that another writer succeeded, so many in a row indicate overload.
 */
const maxAttempts = 200
const maxPauseMs = 32
const maxClaimed = 500

/** Creates a store on a driver: validates values by their schemas and retries failed compare-and-set writes. */
export const createStore = (driver: StoreDriver, chosen: Partial<StoreLimits> = {}): Store => {
  const limits = { ...defaultStoreLimits, ...chosen }
  const waker = createWaker((wake) => driver.listen(wake))
  const updating = { driver, limits, seen: rememberLastSeen(), own: createOwnMessages() }
  const serialize = createSerializer()
  return {
    get connected() {
      return driver.connected
    },
    get problem() {
      return driver.problem
    },
    get: async (key, schema) => (await getAll(updating, [key], schema))[0],
    getAll: (keys, schema) => getAll(updating, keys, schema),
    update: (key, schema, step, fence) => update(updating, { key, schema, step, fence }),
    updateNew: (key, schema, step) => {
      const seen: LastSeenValues = { ...updating.seen, of: (name) => updating.seen.of(name) ?? { value: undefined } }
      return update({ ...updating, seen }, { key, schema, step, fence: undefined })
    },
    updateTogether: (keys, step) =>
      serialize(keys.one?.key ?? keys.many.keys[0] ?? '', () => updateTogether(updating, keys, step)),
    lease: (name, lengthMs) => takeLease(driver, name, lengthMs),
    outbox: createOutbox(driver, waker.onAppend, updating.own.takeOwn),
    async [Symbol.asyncDispose]() {
      await waker[Symbol.asyncDispose]()
      await driver[Symbol.asyncDispose]()
    },
  }
}

interface UpdateRequest<S extends z.ZodType> {
  key: string
  schema: S
  step: (current: z.output<S> | undefined) => UpdateStep<z.input<S>> | undefined
  fence: Fence | undefined
}

interface UpdateContext {
  driver: StoreDriver
  limits: StoreLimits
  seen: LastSeenValues
  own: OwnMessages
}

const update = async <S extends z.ZodType>(
  updating: UpdateContext,
  request: UpdateRequest<S>,
): Promise<z.output<S> | undefined> => {
  const key = requireValidName(request.key)
  const guess = prepareGuess(updating, request)
  if (guess?.change && (await isWritten(updating, guess.change))) return guess.after
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const [stored] = await readAll(updating, [key])
    const { change, after } = prepare(updating, request, stored)
    if (!change || (await isWritten(updating, change))) return after
    await wait(Math.random() * Math.min(2 ** attempt, maxPauseMs))
  }
  throw new ServiceError('busy', `too many concurrent writers of "${key}"; try again`, { retryAfterMs: 1_000 })
}

/** Reads the values of several keys and caches them. */
const readAll = async (
  { driver, seen }: UpdateContext,
  keys: readonly string[],
): Promise<(StoredValue | undefined)[]> => {
  if (keys.length === 0) return []
  const stored = await driver.read(keys)
  for (const [index, key] of keys.entries()) seen.saw(key, stored[index])
  return stored
}

const getAll = async <S extends z.ZodType>(
  updating: UpdateContext,
  keys: readonly string[],
  schema: S,
): Promise<(z.output<S> | undefined)[]> => {
  const stored = await readAll(updating, keys.map(requireValidName))
  return keys.map((key, index) => valueOf(key, stored[index], schema))
}

/**
 * Returns a function that serializes work per key. Otherwise concurrent updates of this process would outdate the
 * cached value.
 */
const createSerializer = () => {
  const last = new Map<string, Promise<unknown>>()
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const running = (last.get(key) ?? Promise.resolve()).then(work, work)
    last.set(key, running)
    try {
      return await running
    } finally {
      if (last.get(key) === running) last.delete(key)
    }
  }
}

const updateTogether = async <S extends z.ZodType, M extends z.ZodType>(
  updating: UpdateContext,
  { one, many }: AtomicUpdateKeys<S, M>,
  step: (
    one: z.output<S> | undefined,
    many: ReadonlyMap<string, z.output<M>>,
  ) => AtomicUpdateStep<z.input<S>, z.input<M>> | undefined,
): Promise<boolean> => {
  const others = [...new Set(many.keys)].map(requireValidName)
  const keys = one ? [requireValidName(one.key), ...others] : others
  const prepare = (stored: readonly (StoredValue | undefined)[]): StoreChange | undefined => {
    const storedOf = new Map(keys.map((key, index) => [key, stored[index]]))
    const before = new Map<string, z.output<M>>()
    for (const key of others) {
      const value = valueOf(key, storedOf.get(key), many.schema)
      if (value !== undefined) before.set(key, value)
    }
    const result = step(one && valueOf(one.key, stored[0], one.schema), before)
    if (!result) return undefined
    const { limits } = updating
    const values = [...result.many].map(([key, value]) => {
      validate(key, value, many.schema)
      return createValueChange(key, storedOf.get(key), { value, expiresInMs: result.expiresInMs }, limits)
    })
    if (!one) return createStoreChange(values, result, limits)
    if (result.one !== undefined) validate(one.key, result.one, one.schema)
    return createStoreChange(
      [createValueChange(one.key, stored[0], { value: result.one }, limits), ...values],
      result,
      limits,
    )
  }
  const seen = keys.map((key) => updating.seen.of(key))
  const guess = prepare(seen.map((entry) => entry?.value))
  // Keys that are not cached are assumed to have no value. The write succeeds only if this is true.
  const written = new Set(guess?.values.map(({ key }) => key))
  const isProved = keys.every((key, index) => seen[index] !== undefined || written.has(key))
  if (guess && isProved && (await writeChange(updating, guess)) === 'written') return true
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const change = prepare(await readAll(updating, keys))
    const result = change && (await writeChange(updating, change))
    if (result !== 'changed') return result !== 'gone'
    await wait(Math.random() * Math.min(2 ** attempt, maxPauseMs))
  }
  throw new ServiceError('busy', `too many concurrent writers of "${keys[0]}"; try again`, { retryAfterMs: 1_000 })
}

interface PreparedUpdate<T> {
  /** The change to write; undefined if the step changes nothing. */
  change: StoreChange | undefined
  after: T | undefined
}

const prepare = <S extends z.ZodType>(
  { limits }: UpdateContext,
  { key, schema, step, fence }: UpdateRequest<S>,
  stored: StoredValue | undefined,
): PreparedUpdate<z.output<S>> => {
  const before = valueOf(key, stored, schema)
  const result = step(before)
  if (!result) return { change: undefined, after: before }
  const change = { ...createStoreChange([createValueChange(key, stored, result, limits)], result, limits), fence }
  // The new value is validated, so that a step cannot store an invalid one.
  return { change, after: result.value === undefined ? undefined : validate(key, result.value, schema) }
}

/**
 * Applies the step to the value this process saw last. A successful write proves that the value was current, which
 * saves a read. Any other outcome, such as no change or an error, proves nothing; the step then runs on the current
 * value.
 */
const prepareGuess = <S extends z.ZodType>(
  updating: UpdateContext,
  request: UpdateRequest<S>,
): PreparedUpdate<z.output<S>> | undefined => {
  const seen = updating.seen.of(request.key)
  try {
    return seen && prepare(updating, request, seen.value)
  } catch {
    return undefined
  }
}

/** Writes the change and returns whether it was written; false if a value changed or a required message is missing. */
const isWritten = async (updating: UpdateContext, change: StoreChange): Promise<boolean> =>
  (await writeChange(updating, change)) === 'written'

const writeChange = async (
  { driver, seen, own }: UpdateContext,
  change: StoreChange,
): Promise<Exclude<WriteResult, 'fenced' | 'full'>> => {
  const { values, messages, fence } = change
  const claim = own.claimFor(messages)
  const result = await driver.write({ ...change, claimMs: claim && limitClaimMs(claim.claimMs) })
  if (result === 'fenced')
    throw new ServiceError('conflict', `lease "${fence?.name}" was taken over by another process`)
  if (result === 'full')
    throw new ServiceError('busy', 'the outbox is full; try again after its messages are delivered')
  if (result !== 'written') return result
  for (const { key, text, version } of values) seen.saw(key, text === undefined ? undefined : { version, text })
  claim?.handOver()
  return 'written'
}

const valueOf = <S extends z.ZodType>(
  key: string,
  stored: { text: string | undefined } | undefined,
  schema: S,
): z.output<S> | undefined => (stored?.text === undefined ? undefined : validate(key, JSON.parse(stored.text), schema))

const validate = <S extends z.ZodType>(key: string, value: unknown, schema: S): z.output<S> => {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const where = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'value'}: ${issue.message}`)
  throw new Error(`the value of "${key}" does not match its schema: ${where.join('; ')}`)
}

const takeLease = async (driver: StoreDriver, name: string, lengthMs: number): Promise<Lease | undefined> => {
  const token = await driver.takeLease(requireValidName(name), toWholeMs(lengthMs))
  if (token === undefined) return undefined
  const fence = { name, token }
  return {
    fence,
    renew: (nextMs) => driver.renewLease(fence, toWholeMs(nextMs)),
    async [Symbol.asyncDispose]() {
      // A failed release is ignored, because the lease expires.
      await driver.releaseLease(fence).catch(() => {})
    },
  }
}

const limitClaimMs = (claimMs: number): number => Math.min(toWholeMs(claimMs), maxClaimMs)

const createOutbox = (driver: StoreDriver, onAppend: Outbox['onAppend'], takeOwn: Outbox['takeOwn']): Outbox => ({
  claim: async (max, claimMs) =>
    (await driver.claim(Math.min(max, maxClaimed), limitClaimMs(claimMs))).map(parseStoredMessage),
  ack: async (ids) => {
    if (ids.length > 0) await driver.ack(ids)
  },
  renew: async (ids, claimMs) => {
    if (ids.length > 0) await driver.renew(ids, limitClaimMs(claimMs))
  },
  holds: async (ids) => new Set(ids.length > 0 ? await driver.holds(ids) : []),
  onAppend,
  takeOwn,
})

/** Holds the registered consumer of messages that this process appends. */
interface OwnMessages {
  takeOwn: Outbox['takeOwn']
  /** Returns the claim for a write that appends messages; undefined if the consumer is missing or has no room. */
  claimFor(messages: readonly StoredOutboxMessage[]): { claimMs: number; handOver(): void } | undefined
}

/** Creates the registry for the consumer of one store. */
const createOwnMessages = (): OwnMessages => {
  let taker: OwnMessageConsumer | undefined
  return {
    takeOwn(newTaker) {
      taker = newTaker
      return {
        [Symbol.dispose]: () => {
          if (taker === newTaker) taker = undefined
        },
      }
    },
    claimFor(messages) {
      const current = taker
      if (messages.length === 0 || !current?.hasRoom()) return undefined
      return {
        claimMs: current.claimMs,
        handOver: () => current.take(messages.map(({ id, text }) => parseStoredMessage({ id, text, attempt: 1 }))),
      }
    },
  }
}
