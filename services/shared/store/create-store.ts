import { setTimeout as wait } from 'node:timers/promises'
import type { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { type StoreLimits, changeOf, defaultLimits, lengthOf, named } from './change.ts'
import { type Change, type Driver, type StoredValue, maxClaimMs } from './driver.ts'
import { type LastSeen, rememberLastSeen } from './last-seen.ts'
import { messageOf } from './message-of.ts'
import { type OwnMessages, ownMessages } from './own-messages.ts'
import type { Fence, Lease, Outbox, Step, Store } from './store.ts'
import { createWaker } from './waker.ts'

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
