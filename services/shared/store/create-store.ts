import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { type StoreLimits, changeOf, defaultLimits, lengthOf, named } from './change.ts'
import type { Driver } from './driver.ts'
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
  return {
    get connected() {
      return driver.connected
    },
    get: async (key, schema) => valueOf(key, await driver.read(named(key)), schema),
    update: (key, schema, step, fence) => update(driver, limits, { key, schema, step, fence }),
    lease: (name, lengthMs) => lease(driver, name, lengthMs),
    outbox: outboxOf(driver, waker.onAppend),
    async [Symbol.asyncDispose]() {
      await waker[Symbol.asyncDispose]()
      await driver[Symbol.asyncDispose]()
    },
  }
}

interface Update<S extends z.ZodType> {
  key: string
  schema: S
  step: (current: z.output<S> | undefined) => Step<z.input<S>>
  fence: Fence | undefined
}

const update = async <S extends z.ZodType>(
  driver: Driver,
  limits: StoreLimits,
  { key, schema, step, fence }: Update<S>,
) => {
  for (let attempt = 0; attempt < attemptsLimit; attempt += 1) {
    const stored = await driver.read(named(key))
    const wanted = step(valueOf(key, stored, schema))
    const change = changeOf(key, stored, wanted, limits)
    // A step cannot store what nobody could read.
    const after = wanted.value === undefined ? undefined : fitting(key, wanted.value, schema)
    const result = await driver.write({ ...change, fence })
    if (result === 'written') return after
    if (result === 'fenced')
      throw new ServiceError('conflict', `somebody else has taken the lease ${fence?.name} since`)
    if (result === 'full') throw new ServiceError('busy', 'the outbox is full; its messages must be delivered first')
    await wait(Math.random() * Math.min(2 ** attempt, longestPauseMs))
  }
  throw new ServiceError('busy', `too many writers of ${key} at once`, { retryAfterMs: 1_000 })
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

const Message = z.object({ topic: z.string(), payload: z.unknown() })

const outboxOf = (driver: Driver, onAppend: Outbox['onAppend']): Outbox => ({
  claim: async (max, claimMs) => {
    const claimed = await driver.claim(Math.min(max, claimLimit), lengthOf(claimMs))
    return claimed.map(({ id, text, attempt }) => {
      const { topic, payload } = Message.parse(JSON.parse(text))
      return { id, topic, payload, attempt }
    })
  },
  ack: async (ids) => {
    if (ids.length > 0) await driver.ack(ids)
  },
  onAppend,
})
