import { z } from 'zod'
import type { Redis } from 'ioredis'
import { type Change, type ClaimedText, type Driver, type StoredValue, maxClaimMs } from '../driver.ts'
import type { Fence, Placed } from '../store.ts'
import { startHeartbeat } from '../heartbeat.ts'
import { connectRedis } from './connection.ts'
import { type Script, failureOf, reasonOf, run, runThenAsk, script } from './run.ts'
import {
  ackScript,
  claimScript,
  peekScript,
  raiseFenceScript,
  renewLeaseScript,
  takeLeaseScript,
  writeScript,
} from './scripts.ts'
import { type Slot, appendChannel, placeOfLease, placeOfValue, slots } from './slots.ts'

/** Runs one script on behalf of a call; fails `unavailable` at once while the server does not answer. */
type Evaluate = (script: Script, keys: readonly string[], values: readonly (string | number)[]) => Promise<unknown>

/** State of all processes that share one Redis. */
export const openRedisDriver = async (
  url: string,
  told?: (connected: boolean, reason?: string) => void,
): Promise<Driver> => {
  const client = await connectRedis(url)
  const { host: address } = new URL(url)
  const explain = (error: unknown) => reasonOf(error, address)
  const heartbeat = startHeartbeat(() => client.ping(), told, explain)
  client.on('close', () => heartbeat.learn(false))
  client.on('ready', () => heartbeat.learn(true))
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    heartbeat.require()
    return work().catch((error: unknown) => Promise.reject(failureOf(error, address)))
  }
  const evaluate: Evaluate = (one, keys, values) => guarded(() => run(client, one, keys, values))
  return {
    get connected() {
      return heartbeat.connected
    },
    get problem() {
      return heartbeat.reason
    },
    read: (key) => guarded(() => read(client, key)),
    write: async (change) => {
      const { keys, values } = writeOf(change)
      return WriteReply.parse(await evaluate(writing, keys, values))
    },
    writeThenRead: async (change, key) => {
      const asking = { ...writeOf(change), hash: placeOfValue(key).value, fields: storedFields }
      const [reply, found] = await guarded(() => runThenAsk(client, writing, asking))
      return [WriteReply.parse(reply), storedIn(Stored.parse(found))]
    },
    takeLease: (name, lengthMs) => takeLease(evaluate, name, lengthMs),
    renewLease: (fence, lengthMs) => renewLease(evaluate, fence, lengthMs),
    releaseLease: async (fence) => void (await renewLease(evaluate, fence, 0)),
    claim: (max, claimMs) => claim(evaluate, max, claimMs),
    ack: (messages) => ack(evaluate, messages),
    placeOf: (key) => placeOfValue(key).number,
    listen: (wake) => listen(client, wake),
    async [Symbol.asyncDispose]() {
      await heartbeat[Symbol.asyncDispose]()
      client.disconnect()
    },
  }
}

const storedFields = ['version', 'text'] as const
const Stored = z.array(z.string().nullable())

const read = async (client: Redis, key: string): Promise<StoredValue | undefined> =>
  storedIn(await client.hmget(placeOfValue(key).value, ...storedFields))

const storedIn = ([version, text]: readonly (string | null)[]): StoredValue | undefined =>
  version == null || text == null ? undefined : { version, text }

const writing = script(writeScript)
const WriteReply = z.enum(['written', 'changed', 'fenced', 'full'])

const writeOf = (change: Change): { keys: readonly string[]; values: readonly (string | number)[] } => {
  const { value, slot, messages, waiting, claimed, attempts } = placeOfValue(change.key)
  const { expected, version, text, expiresInMs, fence, outboxLimit, claimMs } = change
  return {
    keys: [value, slot, messages, waiting, claimed, attempts],
    values: [
      expected ?? '',
      version,
      text === undefined ? 0 : 1,
      text ?? '',
      expiresInMs ?? '',
      fence?.name ?? '',
      fence?.token ?? 0,
      outboxLimit,
      appendChannel,
      claimMs ?? 0,
      ...change.messages.flatMap((message) => [message.id, message.text]),
    ],
  }
}

const taking = script(takeLeaseScript)
const raising = script(raiseFenceScript)
const renewing = script(renewLeaseScript)

const takeLease = async (evaluate: Evaluate, name: string, lengthMs: number): Promise<number | undefined> => {
  const { lease, slot } = placeOfLease(name)
  const token = z.number().parse(await evaluate(taking, [lease, slot], [name, lengthMs]))
  if (token === 0) return undefined
  await Promise.all(slots.map((one) => evaluate(raising, [one.slot], [name, token])))
  return token
}

const renewLease = async (evaluate: Evaluate, { name, token }: Fence, lengthMs: number): Promise<boolean> =>
  (await evaluate(renewing, [placeOfLease(name).lease], [token, lengthMs])) === 1

const peeking = script(peekScript)
const claiming = script(claimScript)
const acking = script(ackScript)
const Peeked = z.array(z.string())
const Claimed = z.array(z.tuple([z.string(), z.string(), z.number()]))

/** Looks into every group first, because the oldest messages of all may lie in any of them. */
const claim = async (evaluate: Evaluate, max: number, claimMs: number): Promise<ClaimedText[]> => {
  const seen = await Promise.all(slots.map((slot) => peek(evaluate, slot, max)))
  const oldest = seen
    .flat()
    .toSorted((a, b) => a.order - b.order)
    .slice(0, max)
  const bySlot = Map.groupBy(oldest, ({ slot }) => slot)
  const taken = await Promise.all(
    [...bySlot].map(([slot, found]) =>
      claimIn(
        evaluate,
        slot,
        found.map(({ id }) => id),
        claimMs,
      ),
    ),
  )
  return taken
    .flat()
    .toSorted((a, b) => a.order - b.order)
    .map(({ id, text, attempt, place }) => ({ id, text, attempt, place }))
}

const peek = async (
  evaluate: Evaluate,
  slot: Slot,
  max: number,
): Promise<{ slot: Slot; id: string; order: number }[]> => {
  const reply = Peeked.parse(await evaluate(peeking, [slot.messages, slot.waiting, slot.claimed], [max, maxClaimMs]))
  return reply.flatMap((id, at) => (at % 2 === 0 ? [{ slot, id, order: Number(reply[at + 1]) }] : []))
}

const claimIn = async (evaluate: Evaluate, slot: Slot, ids: readonly string[], claimMs: number) => {
  const keys = [slot.messages, slot.waiting, slot.claimed, slot.attempts]
  return Claimed.parse(await evaluate(claiming, keys, [claimMs, ...ids])).map(([id, message, attempt]) => {
    const space = message.indexOf(' ')
    return { id, attempt, place: slot.number, text: message.slice(space + 1), order: Number(message.slice(0, space)) }
  })
}

const ack = async (evaluate: Evaluate, ended: readonly Placed[]): Promise<void> => {
  const byPlace = Map.groupBy(ended, ({ place }) => place)
  await Promise.all(
    slots.map(async ({ number, messages, waiting, claimed, attempts }) => {
      const ids = byPlace.get(number)?.map(({ id }) => id)
      if (ids) await evaluate(acking, [messages, waiting, claimed, attempts], ids)
    }),
  )
}

/** A connection of its own, since one that subscribes cannot ask. */
const listen = async (client: Redis, wake: () => void): Promise<AsyncDisposable> => {
  const subscriber = client.duplicate({ enableOfflineQueue: true, maxRetriesPerRequest: null, lazyConnect: false })
  // Its outage is the heartbeat's to tell; meanwhile the poll wakes.
  subscriber.on('error', () => {})
  subscriber.on('message', wake)
  subscriber.on('ready', wake)
  subscriber.subscribe(appendChannel).catch(() => {})
  return { [Symbol.asyncDispose]: async () => subscriber.disconnect() }
}
