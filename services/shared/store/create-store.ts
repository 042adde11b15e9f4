import { setTimeout as wait } from 'node:timers/promises'
import type { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { type StoreLimits, changeOf, defaultLimits, lengthOf, named } from './change.ts'
import { type Change, type Driver, type StoredValue, maxClaimMs, type MessageText } from './driver.ts'
import { messageOf } from './message-of.ts'
import type { Fence, Lease, Outbox, Step, Store, OwnTaker } from './store.ts'
import { createWaker } from './waker.ts'

/** Characters of all texts that are remembered, and of one. */
const mostInAll = 4_194_304
const mostInOne = 65_536

/** Keys as this process saw them last: what nobody else has written since can be written again without asking for it. */
interface LastSeen {
  /** Undefined when it is not remembered; its `value` is undefined when there was none. */
  of(key: string): { value: StoredValue | undefined } | undefined
  saw(key: string, value: StoredValue | undefined): void
}

/** Remembers those seen last, within bounds. */
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
      if (sizeOf(key, value) > mostInOne) return
      seen.set(key, value)
      inAll += sizeOf(key, value)
      for (const oldest of seen.keys()) {
        if (inAll <= mostInAll) return
        forget(oldest)
      }
    },
  }
}

const sizeOf = (key: string, value: StoredValue | undefined): number => key.length + (value?.text.length ?? 0)

/** Each lost race means that somebody else won one, so this many in a row is overload and not bad luck. */
const attemptsLimit = 200
const longestPauseMs = 32
const claimLimit = 500

/** A store over one driver: values as JSON checked by their schema, and the compare-and-set loop. */
export const createStore = (driver: Driver, chosen: Partial<StoreLimits> = {}): Store => {
  const limits = { ...defaultLimits, ...chosen }
  const waker = createWaker((wake) => driver.listen(wake))
  const updating = { driver, write: driver.write, limits, seen: rememberLastSeen(), own: ownMessages() }
  return {
    get connected() {
      return driver.connected
    },
    get problem() {
      return driver.problem
    },
    async get(key, schema) {
      const stored = await driver.read(named(key))
      updating.seen.saw(key, stored)
      return valueOf(key, stored, schema)
    },
    update: (key, schema, step, fence) => update(updating, { key, schema, step, fence }),
    updateNew: (key, schema, step) => {
      const seen: LastSeen = { ...updating.seen, of: (name) => updating.seen.of(name) ?? { value: undefined } }
      return update({ ...updating, seen }, { key, schema, step, fence: undefined })
    },
    updateThenGet: (key, schema, step, next) => updateThenGet(updating, { key, schema, step, fence: undefined }, next),
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
  write: Driver['write']
  limits: StoreLimits
  seen: LastSeen
  own: OwnMessages
}

const update = async <S extends z.ZodType>(updating: Updating, wanted: Update<S>): Promise<z.output<S> | undefined> => {
  const { driver, seen } = updating
  const key = named(wanted.key)
  const guess = prepareGuess(updating, wanted)
  if (guess?.change && (await isWritten(updating, guess.change))) return guess.after
  for (let attempt = 0; attempt < attemptsLimit; attempt += 1) {
    const stored = await driver.read(key)
    seen.saw(key, stored)
    const { change, after } = prepare(updating, wanted, stored)
    if (!change || (await isWritten(updating, change))) return after
    await wait(Math.random() * Math.min(2 ** attempt, longestPauseMs))
  }
  throw new ServiceError('busy', `too many writers of ${key} at once`, { retryAfterMs: 1_000 })
}

const updateThenGet = async <S extends z.ZodType, N extends z.ZodType>(
  updating: Updating,
  wanted: Update<S>,
  { key, schema }: { key: string; schema: N },
): Promise<{ value: z.output<S> | undefined; next: z.output<N> | undefined }> => {
  let stored: StoredValue | undefined
  const write: Driver['write'] = async (change) => {
    const [result, found] = await updating.driver.writeThenRead(change, named(key))
    updating.seen.saw(key, found)
    stored = found
    return result
  }
  const value = await update({ ...updating, write }, wanted)
  return { value, next: valueOf(key, stored, schema) }
}

interface Prepared<T> {
  /** Undefined when everything is to stay as it is. */
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
  const change = { ...changeOf(key, stored, wanted, limits), fence }
  // A step cannot store what nobody could read.
  return { change, after: wanted.value === undefined ? undefined : fitting(key, wanted.value, schema) }
}

/**
 * The step upon what this process saw last: a write proves that it still stood so, and saves asking. Whatever else comes of it, to leave all
 * as it is or to throw, proves nothing, and is decided upon what stands now.
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

/** False when somebody else wrote in between. */
const isWritten = async ({ driver, write, seen, own }: Updating, change: Change): Promise<boolean> => {
  const { key, version, text, messages, fence } = change
  const claim = own.claimFor(messages)
  const result = await write({ ...change, claimMs: claim && claimLength(claim.claimMs) })
  if (result === 'fenced') throw new ServiceError('conflict', `somebody else has taken the lease ${fence?.name} since`)
  if (result === 'full') throw new ServiceError('busy', 'the outbox is full; its messages must be delivered first')
  if (result === 'changed') return false
  seen.saw(key, text === undefined ? undefined : { version, text })
  claim?.handOver(driver.placeOf(key))
  return true
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
  ack: async (messages) => {
    if (messages.length > 0) await driver.ack(messages)
  },
  onAppend,
  takeOwn,
})

/** Messages that the process which appends them takes itself. */
interface OwnMessages {
  takeOwn: Outbox['takeOwn']
  /** For a write that is to append them: undefined while nobody takes them. */
  claimFor(messages: readonly MessageText[]): { claimMs: number; handOver(place: number): void } | undefined
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
        handOver: (place) => takes.take(messages.map(({ id, text }) => messageOf({ id, text, place, attempt: 1 }))),
      }
    },
  }
}
