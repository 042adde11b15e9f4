import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import type { Change, Driver, StoredValue } from './driver.ts'
import type { Fence, Lease, Outbox, Step, Store } from './store.ts'
import { createWaker } from './waker.ts'

/** What a store refuses to grow beyond; tests choose small ones. */
export interface StoreLimits {
  /** Messages waiting in the outbox; Redis counts each of its 16 groups of keys. */
  outboxMessages: number
  /** Bytes of one value. */
  valueBytes: number
}

const defaultLimits: StoreLimits = { outboxMessages: 100_000, valueBytes: 1_048_576 }

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
    get: async (key, schema) => valueOf(key, await driver.read(key), schema),
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
    const stored = await driver.read(key)
    const change = changeOf(key, stored, step(valueOf(key, stored, schema)), limits)
    const after = valueOf(key, change, schema)
    const result = await driver.write({ ...change, fence })
    if (result === 'written') return after
    if (result === 'fenced')
      throw new ServiceError('conflict', `somebody else has taken the lease ${fence?.name} since`)
    if (result === 'full') throw new ServiceError('busy', 'the outbox is full; its messages must be delivered first')
    await wait(Math.random() * Math.min(2 ** attempt, longestPauseMs))
  }
  throw new ServiceError('busy', `too many writers of ${key} at once`, { retryAfterMs: 1_000 })
}

const changeOf = (key: string, stored: StoredValue | undefined, step: Step<unknown>, limits: StoreLimits): Change => {
  const text = step.value === undefined ? undefined : JSON.stringify(step.value)
  if (text !== undefined && Buffer.byteLength(text) > limits.valueBytes) {
    throw new ServiceError('too-large', `the value under ${key} would exceed ${limits.valueBytes} bytes`)
  }
  return {
    key,
    expected: stored?.version,
    version: randomUUID(),
    text,
    expiresInMs: step.expiresInMs,
    fence: undefined,
    messages: (step.outbox ?? []).map(({ id, topic, payload }) => ({ id, text: JSON.stringify({ topic, payload }) })),
    outboxLimit: limits.outboxMessages,
  }
}

/** Checks the way in as well as the way out, so that a step cannot store what nobody could read. */
const valueOf = <S extends z.ZodType>(
  key: string,
  stored: { text: string | undefined } | undefined,
  schema: S,
): z.output<S> | undefined => {
  if (stored?.text === undefined) return undefined
  const parsed = schema.safeParse(JSON.parse(stored.text))
  if (parsed.success) return parsed.data
  const where = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'value'}: ${issue.message}`)
  throw new Error(`the value under ${key} does not fit its schema: ${where.join('; ')}`)
}

const lease = async (driver: Driver, name: string, lengthMs: number): Promise<Lease | undefined> => {
  const token = await driver.takeLease(name, lengthMs)
  if (token === undefined) return undefined
  const fence = { name, token }
  return {
    fence,
    renew: (nextMs) => driver.renewLease(fence, nextMs),
    async [Symbol.asyncDispose]() {
      // A lease that cannot be given back ends by itself when its time is over.
      await driver.releaseLease(fence).catch(() => {})
    },
  }
}

const Message = z.object({ topic: z.string(), payload: z.unknown() })

const outboxOf = (driver: Driver, onAppend: Outbox['onAppend']): Outbox => ({
  claim: async (max, claimMs) => {
    const claimed = await driver.claim(Math.min(max, claimLimit), claimMs)
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
