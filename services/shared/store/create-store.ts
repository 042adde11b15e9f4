import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { changeOf, defaultLimits, lengthOf, named, type StoreLimits, valueChangeOf } from './change.ts'
import {
  type Change,
  type ClaimedText,
  type Driver,
  maxClaimMs,
  type MessageText,
  type StoredValue,
  type WriteResult,
} from './driver.ts'
import type {
  ClaimedMessage,
  Fence,
  Lease,
  Outbox,
  OwnTaker,
  Step,
  Store,
  TogetherKeys,
  TogetherStep,
} from './store.ts'
import { createWaker } from './waker.ts'

const Stored = z.object({ topic: z.string(), payload: z.unknown() })

/** Parses a stored message. */
export const messageOf = ({ text, ...claimed }: ClaimedText): ClaimedMessage => ({
  ...claimed,
  ...Stored.parse(JSON.parse(text)),
})

/** Maximum characters of all cached texts. */
const maxTotalLength = 4_194_304
const maxTextLength = 65_536

/** The last values of keys that this process saw. If no other process has changed a value, it can be written without a read. */
interface LastSeen {
  /** Returns undefined if the key is not cached; `value` is undefined if the key had no value. */
  of(key: string): { value: StoredValue | undefined } | undefined
  saw(key: string, value: StoredValue | undefined): void
}

/** Creates a bounded cache of the last seen values. */
const rememberLastSeen = (): LastSeen => {
  const seen = new Map<string, StoredValue | undefined>()
  let inAll = 0
  const forget = (key: string) => {
    inAll -= sizeOf(key, seen.get(key)) * Number(seen.has(key))
    seen.delete(key)
  }
  return {
    of: (key) => (seen.has(key) ? { value: seen.get(key) } : undefined),
    saw(key, value) {
      forget(key)
      if (sizeOf(key, value) > maxTextLength) return
      seen.set(key, value)
      inAll += sizeOf(key, value)
      for (const oldest of seen.keys()) {
        if (inAll <= maxTotalLength) return
        forget(oldest)
      }
    },
  }
}

const sizeOf = (key: string, value: StoredValue | undefined): number => key.length + (value?.text.length ?? 0)

/** Each conflict means that another writer succeeded, so this many in a row indicate overload. */
const attemptsLimit = 200
const maxPauseMs = 32
const claimLimit = 500

/** Creates a store on a driver: JSON values validated by their schemas, and the compare-and-set loop. */
export const createStore = (driver: Driver, chosen: Partial<StoreLimits> = {}): Store => {
  const limits = { ...defaultLimits, ...chosen }
  const waker = createWaker((wake) => driver.listen(wake))
  const updating = { driver, limits, seen: rememberLastSeen(), own: ownMessages() }
  const inTurn = openTurns()
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
      const seen: LastSeen = { ...updating.seen, of: (name) => updating.seen.of(name) ?? { value: undefined } }
      return update({ ...updating, seen }, { key, schema, step, fence: undefined })
    },
    updateTogether: (keys, step) =>
      inTurn(keys.one?.key ?? keys.many.keys[0] ?? '', () => updateTogether(updating, keys, step)),
    lease: (name, lengthMs) => lease(driver, name, lengthMs),
    outbox: outboxOf(driver, waker.onAppend, updating.own.takeOwn),
    async [Symbol.asyncDispose]() {
      await waker[Symbol.asyncDispose]()
      await driver[Symbol.asyncDispose]()
    },
  }
}

interface Update<S extends z.ZodType> {
  key: string
  schema: S
  step: (current: z.output<S> | undefined) => Step<z.input<S>> | undefined
  fence: Fence | undefined
}

interface Updating {
  driver: Driver
  limits: StoreLimits
  seen: LastSeen
  own: OwnMessages
}

const update = async <S extends z.ZodType>(updating: Updating, wanted: Update<S>): Promise<z.output<S> | undefined> => {
  const key = named(wanted.key)
  const guess = prepareGuess(updating, wanted)
  if (guess?.change && (await isWritten(updating, guess.change))) return guess.after
  for (let attempt = 0; attempt < attemptsLimit; attempt += 1) {
    const [stored] = await readAll(updating, [key])
    const { change, after } = prepare(updating, wanted, stored)
    if (!change || (await isWritten(updating, change))) return after
    await wait(Math.random() * Math.min(2 ** attempt, maxPauseMs))
  }
  throw new ServiceError('busy', `too many concurrent writers of "${key}"; try again`, { retryAfterMs: 1_000 })
}

/** Reads the values of several keys and caches them. */
const readAll = async ({ driver, seen }: Updating, keys: readonly string[]): Promise<(StoredValue | undefined)[]> => {
  if (keys.length === 0) return []
  const stored = await driver.read(keys)
  for (const [index, key] of keys.entries()) seen.saw(key, stored[index])
  return stored
}

const getAll = async <S extends z.ZodType>(
  updating: Updating,
  keys: readonly string[],
  schema: S,
): Promise<(z.output<S> | undefined)[]> => {
  const stored = await readAll(updating, keys.map(named))
  return keys.map((key, index) => valueOf(key, stored[index], schema))
}

/** Serializes the updates of one key, so that the last value written by this process is current. */
const openTurns = () => {
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
  updating: Updating,
  { one, many }: TogetherKeys<S, M>,
  step: (
    one: z.output<S> | undefined,
    many: ReadonlyMap<string, z.output<M>>,
  ) => TogetherStep<z.input<S>, z.input<M>> | undefined,
): Promise<boolean> => {
  const others = [...new Set(many.keys)].map(named)
  const keys = one ? [named(one.key), ...others] : others
  const prepare = (stored: readonly (StoredValue | undefined)[]): Change | undefined => {
    const storedOf = new Map(keys.map((key, index) => [key, stored[index]]))
    const before = new Map<string, z.output<M>>()
    for (const key of others) {
      const value = valueOf(key, storedOf.get(key), many.schema)
      if (value !== undefined) before.set(key, value)
    }
    const wanted = step(one && valueOf(one.key, stored[0], one.schema), before)
    if (!wanted) return undefined
    const { limits } = updating
    const values = [...wanted.many].map(([key, value]) => {
      fitting(key, value, many.schema)
      return valueChangeOf(key, storedOf.get(key), { value, expiresInMs: wanted.expiresInMs }, limits)
    })
    if (!one) return changeOf(values, wanted, limits)
    if (wanted.one !== undefined) fitting(one.key, wanted.one, one.schema)
    return changeOf([valueChangeOf(one.key, stored[0], { value: wanted.one }, limits), ...values], wanted, limits)
  }
  const seen = keys.map((key) => updating.seen.of(key))
  const guess = prepare(seen.map((known) => known?.value))
  // A key that is not cached counts as one without a value; the write verifies this.
  const written = new Set(guess?.values.map(({ key }) => key))
  const isProved = keys.every((key, index) => seen[index] !== undefined || written.has(key))
  if (guess && isProved && (await writeChange(updating, guess)) === 'written') return true
  for (let attempt = 0; attempt < attemptsLimit; attempt += 1) {
    const change = prepare(await readAll(updating, keys))
    const result = change && (await writeChange(updating, change))
    if (result !== 'changed') return result !== 'gone'
    await wait(Math.random() * Math.min(2 ** attempt, maxPauseMs))
  }
  throw new ServiceError('busy', `too many concurrent writers of "${keys[0]}"; try again`, { retryAfterMs: 1_000 })
}

interface Prepared<T> {
  /** Undefined if nothing changes. */
  change: Change | undefined
  after: T | undefined
}

const prepare = <S extends z.ZodType>(
  { limits }: Updating,
  { key, schema, step, fence }: Update<S>,
  stored: StoredValue | undefined,
): Prepared<z.output<S>> => {
  const before = valueOf(key, stored, schema)
  const wanted = step(before)
  if (!wanted) return { change: undefined, after: before }
  const change = { ...changeOf([valueChangeOf(key, stored, wanted, limits)], wanted, limits), fence }
  // A step cannot store an invalid value.
  return { change, after: wanted.value === undefined ? undefined : fitting(key, wanted.value, schema) }
}

/**
 * Applies the step to the value this process saw last. A successful write proves that the value was current, and saves a read. Any other
 * outcome, such as no change or an error, proves nothing and is decided on the current value.
 */
const prepareGuess = <S extends z.ZodType>(
  updating: Updating,
  wanted: Update<S>,
): Prepared<z.output<S>> | undefined => {
  const seen = updating.seen.of(wanted.key)
  try {
    return seen && prepare(updating, wanted, seen.value)
  } catch {
    return undefined
  }
}

/** False when another writer was faster. */
const isWritten = async (updating: Updating, change: Change): Promise<boolean> =>
  (await writeChange(updating, change)) === 'written'

const writeChange = async (
  { driver, seen, own }: Updating,
  change: Change,
): Promise<Exclude<WriteResult, 'fenced' | 'full'>> => {
  const { values, messages, fence } = change
  const claim = own.claimFor(messages)
  const result = await driver.write({ ...change, claimMs: claim && claimLength(claim.claimMs) })
  if (result === 'fenced')
    throw new ServiceError('conflict', `lease "${fence?.name}" was taken over by another process`)
  if (result === 'full') throw new ServiceError('busy', 'the outbox is full; its messages must be delivered first')
  if (result !== 'written') return result
  for (const { key, text, version } of values) seen.saw(key, text === undefined ? undefined : { version, text })
  claim?.handOver()
  return 'written'
}

const valueOf = <S extends z.ZodType>(
  key: string,
  stored: { text: string | undefined } | undefined,
  schema: S,
): z.output<S> | undefined => (stored?.text === undefined ? undefined : fitting(key, JSON.parse(stored.text), schema))

const fitting = <S extends z.ZodType>(key: string, value: unknown, schema: S): z.output<S> => {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const where = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'value'}: ${issue.message}`)
  throw new Error(`the value under ${key} does not fit its schema: ${where.join('; ')}`)
}

const lease = async (driver: Driver, name: string, lengthMs: number): Promise<Lease | undefined> => {
  const token = await driver.takeLease(named(name), lengthOf(lengthMs))
  if (token === undefined) return undefined
  const fence = { name, token }
  return {
    fence,
    renew: (nextMs) => driver.renewLease(fence, lengthOf(nextMs)),
    async [Symbol.asyncDispose]() {
      // A lease that cannot be given back ends by itself when its time is over.
      await driver.releaseLease(fence).catch(() => {})
    },
  }
}

const claimLength = (claimMs: number): number => Math.min(lengthOf(claimMs), maxClaimMs)

const outboxOf = (driver: Driver, onAppend: Outbox['onAppend'], takeOwn: Outbox['takeOwn']): Outbox => ({
  claim: async (max, claimMs) => (await driver.claim(Math.min(max, claimLimit), claimLength(claimMs))).map(messageOf),
  ack: async (ids) => {
    if (ids.length > 0) await driver.ack(ids)
  },
  renew: async (ids, claimMs) => {
    if (ids.length > 0) await driver.renew(ids, claimLength(claimMs))
  },
  holds: async (ids) => new Set(ids.length > 0 ? await driver.holds(ids) : []),
  onAppend,
  takeOwn,
})

/** Messages that the process which appends them takes itself. */
interface OwnMessages {
  takeOwn: Outbox['takeOwn']
  /** Returns the consumer for a write that appends messages; undefined while there is none. */
  claimFor(messages: readonly MessageText[]): { claimMs: number; handOver(): void } | undefined
}

/** Those of one store. */
const ownMessages = (): OwnMessages => {
  let taker: OwnTaker | undefined
  return {
    takeOwn(given) {
      taker = given
      return {
        [Symbol.dispose]: () => {
          if (taker === given) taker = undefined
        },
      }
    },
    claimFor(messages) {
      const takes = taker
      if (messages.length === 0 || !takes?.hasRoom()) return undefined
      return {
        claimMs: takes.claimMs,
        handOver: () => takes.take(messages.map(({ id, text }) => messageOf({ id, text, attempt: 1 }))),
      }
    },
  }
}
